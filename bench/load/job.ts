/** What the generator process is told. `{n}` in the body is replaced by a number of its own for each request. */
export interface LoadJob {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** Fixed headers, `Name: value`. */
  readonly headers: readonly string[];
  /** One is used for each request, in turn, none twice: authorization that may not be repeated. */
  readonly perRequestHeaders?: readonly string[];
  /** In turn, again and again. */
  readonly bodies: readonly string[];
  readonly connections: number;
  readonly durationMs: number;
}

export interface LoadResult {
  readonly requests: number;
  /** Answers that are no HTTP 200 or hold a JSON-RPC error, and lost connections. */
  readonly errors: number;
  readonly firstError?: string;
  readonly elapsedMs: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}
