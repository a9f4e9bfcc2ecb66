import { createHash } from 'node:crypto';
import type { LogFields } from '../core/ports/telemetry.ts';
import { withoutCredentials } from './without-credentials.ts';

/*
 * What may be in a line of the log. A field that is not named here does not get through: its name is listed under
 * `dropped`, its value is gone. Texts are short and lose whatever looks like a credential. So a careless call costs a
 * field in the log and never a secret.
 */

const MAX_TEXT = 300;
const MAX_STACK = 4_000;
const MAX_CAUSES = 3;

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
  ...['tasks', 'operations', 'count', 'streams', 'turns', 'bytes', 'characters', 'host', 'port', 'url', 'path', 'node'],
  ...['grpc', 'opsUrl', 'edges', 'agentSource'],
  ...['durationMs', 'waitedMs', 'retryMs', 'retryAfterMs', 'leaseMs', 'drainMs'],
]);

interface ErrorRecord {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: ErrorRecord;
}

export function logRecord(fields: LogFields, error: unknown): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  const dropped: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (value instanceof Error) record[name] = errorRecord(value);
    else {
      const shown = shownField(name, value);
      if (shown === undefined) dropped.push(name);
      else record[name] = shown;
    }
  }
  if (dropped.length > 0) record.dropped = dropped;
  if (error !== undefined) record.error = errorRecord(error);
  return record;
}

/** What may be written down of a field, wherever; undefined: nothing but its name. */
export function shownField(name: string, value: unknown): string | number | boolean | undefined {
  if (!LOG_FIELDS.has(name) || !isPrimitive(value)) return undefined;
  return name === 'principal' ? pseudonym(String(value)) : plain(value);
}

/** The type says so already; plain JavaScript callers and casts do not have to. */
function isPrimitive(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function plain(value: string | number | boolean): string | number | boolean {
  return typeof value === 'string' ? clean(value, MAX_TEXT) : value;
}

const pseudonyms = new Map<string, string>();
const PSEUDONYMS_MAX = 1_000;

/** Account ids are personal data: lines of one person can be told to belong together, not whose they are. Core hashes already. */
function pseudonym(value: string): string {
  if (/^[0-9a-f]{12}$/.test(value)) return value;
  const known = pseudonyms.get(value);
  if (known !== undefined) return known;
  const made = createHash('sha256').update(value).digest('hex').slice(0, 12);
  // A person has several lines to each call, and the same people call again.
  if (pseudonyms.size >= PSEUDONYMS_MAX) pseudonyms.clear();
  pseudonyms.set(value, made);
  return made;
}

function clean(text: string, max: number): string {
  // Cut with a margin first: the patterns never run over a whole body, and a token at the cut is still seen whole.
  const result = withoutCredentials(text.slice(0, max + 8_192));
  return result.length > max ? `${result.slice(0, max)}…` : result;
}

/** A string property of whatever was thrown. Agents throw anything: getters that throw, numbers where texts belong. */
function textIn(value: object, name: string, max: number): string | undefined {
  try {
    const text: unknown = Reflect.get(value, name);
    return typeof text === 'string' ? clean(text, max) : undefined;
  } catch {
    return undefined;
  }
}

function causeOf(error: Error): unknown {
  try {
    return error.cause;
  } catch {
    return undefined;
  }
}

function errorRecord(error: unknown, depth = 0): ErrorRecord {
  if (!(error instanceof Error)) {
    const message = typeof error === 'object' || typeof error === 'function' ? 'not an Error' : String(error);
    return { type: typeof error, message: clean(message, MAX_TEXT) };
  }
  const code = textIn(error, 'code', MAX_TEXT);
  const stack = textIn(error, 'stack', MAX_STACK);
  const cause = causeOf(error);
  return {
    type: textIn(error, 'name', MAX_TEXT) ?? 'Error',
    message: textIn(error, 'message', MAX_TEXT) ?? '',
    ...(code !== undefined && { code }),
    ...(stack !== undefined && { stack }),
    ...(cause !== undefined && depth < MAX_CAUSES && { cause: errorRecord(cause, depth + 1) }),
  };
}
