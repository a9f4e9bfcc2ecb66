import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One span as it was exported. */
export interface ExportedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly error: boolean;
  /** Of the process that exported it. */
  readonly pid: number;
}

/** What `node --import` loads to have the spans of a process written to the file that SPANS_FILE names. */
export const RECORD_SPANS = fileURLToPath(new URL('./record-spans.js', import.meta.url));

/** Spans of all processes that wrote to the file, in the order in which they ended. */
export function readSpans(path: string): readonly ExportedSpan[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ExportedSpan);
}
