import type { LogFields } from '../core/ports/telemetry.ts';
import { errorRecord } from './error-record.ts';
import { pseudonymOf } from './pseudonym.ts';
import { shortText } from './without-credentials.ts';

/*
 * What may be in a line of the log. A field that is not named here does not get through: its name is listed under
 * `dropped`, its value is gone. Texts are short and lose whatever looks like a credential. So a careless call costs a
 * field in the log and never a secret.
 *
 * The line is written in one pass over the fields, without a record in between: a message has four lines, and pino's way
 * over one took more than twice the time and three times the memory of this.
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

/** Each name as it stands in a line. */
const NAMES: ReadonlyMap<string, string> = new Map([...LOG_FIELDS].map((name) => [name, `,"${name}":`]));

/** A line of the log, a JSON object and its end. */
export function logLine(level: string, name: string, fields: LogFields, error?: unknown): string {
  let line = `{"level":"${level}","time":"${isoNow()}","event":${quoted(name)}`;
  let dropped: string[] | undefined;
  // What `event` is called with are literals: nothing is inherited.
  for (const field in fields) {
    const value: unknown = fields[field];
    if (value === undefined) continue;
    const named = NAMES.get(field);
    if (named !== undefined && isPrimitive(value)) line += named + shownText(field, value);
    else if (value instanceof Error) line += `,${JSON.stringify(field)}:${JSON.stringify(errorRecord(value))}`;
    else {
      dropped ??= [];
      dropped.push(field);
    }
  }
  if (dropped) line += `,"dropped":${JSON.stringify(dropped)}`;
  if (error !== undefined) line += `,"error":${JSON.stringify(errorRecord(error))}`;
  return `${line}}\n`;
}

/** A known field as it stands in a line. */
function shownText(field: string, value: string | number | boolean): string {
  if (field === 'principal') return pseudonymOf(String(value)).quoted;
  return typeof value === 'string' ? quoted(value) : JSON.stringify(value);
}

/** What may be written down of a field, wherever; undefined: nothing but its name. */
export function shownField(name: string, value: unknown): string | number | boolean | undefined {
  if (!LOG_FIELDS.has(name) || !isPrimitive(value)) return undefined;
  if (name === 'principal') return pseudonymOf(String(value)).text;
  return typeof value === 'string' ? shortText(value, MAX_TEXT) : value;
}

/** The type says so already; plain JavaScript callers and casts do not have to. */
function isPrimitive(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

let lastMs = Number.NaN;
let lastIso = '';

/** Many lines are of one millisecond. */
function isoNow(): string {
  const now = Date.now();
  if (now !== lastMs) {
    lastMs = now;
    lastIso = new Date(now).toISOString();
  }
  return lastIso;
}

/** Ids of ours. Nothing in them has to be escaped, and no credential looks like that. */
const ID = /^[0-9a-f-]{36}$/;
/** States, methods, versions: the same short texts again and again, as they stand in a line. */
const known = new Map<string, string>();
const KNOWN_MAX = 1_000;
const KNOWN_CHARS = 64;

/** A text in quotes, short and without credentials. */
function quoted(text: string): string {
  if (text.length === 36 && ID.test(text)) return `"${text}"`;
  const before = known.get(text);
  if (before !== undefined) return before;
  const shown = shortText(text, MAX_TEXT);
  const made = JSON.stringify(shown);
  // Never a credential, not even in memory.
  if (shown !== text || text.length > KNOWN_CHARS) return made;
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(text, made);
  return made;
}
