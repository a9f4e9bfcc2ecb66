export type Level = 'debug' | 'info' | 'warn' | 'error';

/**
 * Values that may reach a log or a trace. Never a token, a message text or issue content. `principal` may be the account
 * itself: it is written down as a pseudonym only.
 */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined | Error>>;
export type Labels = Readonly<Record<string, string>>;

/** A piece of work within a trace. */
export interface Span {
  /** Its W3C trace context, to be kept with whatever it starts. Absent while nobody records traces. */
  readonly traceparent?: string;
  /** Adds fields; those that are there already are replaced. */
  set(fields: LogFields): void;
}

export interface SpanOptions {
  /** Asked for only when somebody records: most of the time nobody does. */
  readonly fields?: () => LogFields;
  /**
   * A W3C trace context or a B3 trace id that came from elsewhere: another process, or this one before a restart. Work
   * that runs inside a span of the same trace stays below that span; anything malformed counts as absent.
   */
  readonly parent?: string | undefined;
}

/** Log events (`task.accepted`), metrics (`a2a_<noun>_<unit>`) and spans (`agent.turn`). */
export interface Telemetry {
  event(level: Level, name: string, fields?: LogFields, error?: unknown): void;
  count(metric: string, labels?: Labels, by?: number): void;
  gauge(metric: string, value: number, labels?: Labels): void;
  observe(metric: string, value: number, labels?: Labels): void;
  /**
   * Runs `work`, at once, as one span; spans that begin inside it are its children. Answers and rejects as `work` does,
   * and what it throws leaves only its code behind.
   */
  span<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
}

const UNRECORDED: Span = { set() {} };

/** `Telemetry.span` for when nobody records traces. */
export function withoutSpan<T>(_name: string, _options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
  return work(UNRECORDED);
}
