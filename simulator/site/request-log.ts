export interface LoggedRequest {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly cloudId: string;
  readonly method: string;
  /** Below the site's base, e.g. `/rest/api/3/issue/SHOP-1`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Name of the person whose token came; undefined when none was accepted. */
  readonly as?: string;
  /** The token itself, so that a test can see which one was used. It opens nothing outside this process. */
  readonly token?: string;
  readonly status: number;
}

export interface RequestLog {
  all(): readonly LoggedRequest[];
  add(request: LoggedRequest): void;
  clear(): void;
}

/** The oldest go first: a simulator that serves for days keeps its memory. */
const MAX_KEPT = 10_000;

export function createRequestLog(): RequestLog {
  let requests: LoggedRequest[] = [];
  return {
    all: () => [...requests],
    add(request) {
      requests.push(request);
      if (requests.length > MAX_KEPT) requests = requests.slice(MAX_KEPT / 10);
    },
    clear() {
      requests = [];
    },
  };
}
