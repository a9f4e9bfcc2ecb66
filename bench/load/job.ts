/** What the generator process is told. `{n}` in the body is replaced by a number of its own for each request. */
export interface LoadJob {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** Fixed headers, `Name: value`. */
  readonly headers: readonly string[];
  /** One is used for each request, in turn, none twice: authorization that may not be repeated. The job ends with them. */
  readonly perRequestHeaders?: readonly string[];
  /** In turn, again and again. */
  readonly bodies: readonly string[];
  readonly connections: number;
  readonly durationMs: number;
  /** Epoch milliseconds before which nothing is sent, so that several generators begin together. Default: at once. */
  readonly startAt?: number;
  /** Of each connection, between an answer and its next request. Default: none. */
  readonly pauseMs?: number;
  /** Should the result name the tasks and hold every latency? Default: no. */
  readonly detailed?: boolean;
}

export interface LoadResult {
  readonly requests: number;
  /** Answers that are no HTTP 200 or hold a JSON-RPC error, and lost connections. */
  readonly errors: number;
  /** Those of them that say OVERLOADED, or 429 or 503: asked to come back later. */
  readonly refused: number;
  /** Of an error that is no refusal, when there is one. */
  readonly firstError?: string;
  readonly elapsedMs: number;
  /** Milliseconds, of the answers that are no error. */
  readonly p50: number;
  readonly p99: number;
  /** Of the generator itself. */
  readonly cpuMs: number;
  /** Ids of the tasks that answers told of. */
  readonly taskIds?: readonly string[];
  readonly latenciesMs?: readonly number[];
}
