export type Level = 'debug' | 'info' | 'warn' | 'error';

/** Values that may reach a log. Never a token, a message text or issue content. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined | Error>>;
export type Labels = Readonly<Record<string, string>>;

/** Log events (`task.accepted`) and metrics (`a2a_<noun>_<unit>`). */
export interface Telemetry {
  event(level: Level, name: string, fields?: LogFields, error?: unknown): void;
  count(metric: string, labels?: Labels, by?: number): void;
  gauge(metric: string, value: number, labels?: Labels): void;
  observe(metric: string, value: number, labels?: Labels): void;
}
