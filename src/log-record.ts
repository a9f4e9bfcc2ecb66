import type { LogFields } from '../core/ports/telemetry.ts';
import { errorRecord } from './error-record.ts';
import { pseudonymOf } from './pseudonym.ts';
import { shortText } from './without-credentials.ts';

/*
 * What may be in a line of the log. A field that is not named here does not get through: its name is listed under
 * `dropped`, its value is gone. Texts are short and lose whatever looks like a credential. So a careless call costs a
 * field in the log and never a secret.
 */

const MAX_TEXT = 300;

/** Ids, names from fixed sets, counts and durations. Nothing that a person wrote. */
export const LOG_FIELDS: ReadonlySet<string> = new Set([
  ...['taskId', 'contextId', 'tenant', 'principal', 'agent', 'edge', 'binding', 'method', 'version', 'status'],
  ...[
    'turn',
    'ordinal',
    'attempt',
    'sequence',
    'transition',
    'from',
    'to',
    'state',
    'kind',
    'recovery',
    'outcome',
    'act',
    'retriedAs',
    'worker',
    'role',
  ],
  ...[
    'trace',
    'traceparent',
    'b3TraceId',
    'userToken',
    'code',
    'reason',
    'signal',
    'duty',
    'call',
    'hasKeys',
    'active',
    'warning',
  ],
  ...[
    'tasks',
    'operations',
    'count',
    'metric',
    'streams',
    'turns',
    'bytes',
    'characters',
    'host',
    'port',
    'url',
    'path',
    'node',
  ],
  ...['grpc', 'opsUrl', 'edges', 'agentSource'],
  ...['durationMs', 'waitedMs', 'retryMs', 'retryAfterMs', 'leaseMs', 'drainMs'],
]);

/** What happened, and when: ISO 8601. */
export interface Happened {
  readonly time: string;
  readonly event: string;
}

/** What a line says, in its order; the level is pino's. */
export function logRecord({ time, event }: Happened, fields: LogFields, error?: unknown): Record<string, unknown> {
  const record: Record<string, unknown> = { time, event: shownText(event) };
  let dropped: string[] | undefined;
  // What `event` is called with are literals: nothing is inherited.
  for (const name in fields) {
    const value: unknown = fields[name];
    if (value === undefined) continue;
    const shown = value instanceof Error ? errorRecord(value) : shownField(name, value);
    if (shown !== undefined) record[name] = shown;
    else {
      dropped ??= [];
      dropped.push(name);
    }
  }
  if (dropped) record.dropped = dropped;
  if (error !== undefined) record.error = errorRecord(error);
  return record;
}

/** What may be written down of a field, wherever; undefined: nothing but its name. */
export function shownField(name: string, value: unknown): string | number | boolean | undefined {
  if (!LOG_FIELDS.has(name) || !isPrimitive(value)) return undefined;
  if (name === 'principal') return pseudonymOf(String(value));
  return typeof value === 'string' ? shownText(value) : value;
}

/** The type says so already; plain JavaScript callers and casts do not have to. */
function isPrimitive(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Ids of ours. No credential looks like that. */
const ID = /^[0-9a-f-]{36}$/;
/** States, methods, versions: the same short texts again and again, seen to hold no credential. */
const harmless = new Set<string>();
const HARMLESS_MAX = 1_000;
const HARMLESS_CHARS = 64;

/** Short and without credentials. */
function shownText(text: string): string {
  if ((text.length === 36 && ID.test(text)) || harmless.has(text)) return text;
  const shown = shortText(text, MAX_TEXT);
  // Never a credential, not even in memory.
  if (shown !== text || text.length > HARMLESS_CHARS) return shown;
  if (harmless.size >= HARMLESS_MAX) harmless.clear();
  harmless.add(text);
  return text;
}
