import { DomainError, invalidParams, type Violation } from '../../core/errors.ts';
import type { JsonObject } from '../../core/message.ts';
import type { Session } from './edge.ts';
import { isRecord } from './envelope.ts';
import type { Method } from './methods.ts';

/** JSON.parse reads 1e400 as Infinity, which would be kept as null. */
const UNSTORABLE_TEXT = 'must hold no NUL, no lone surrogate and no number beyond a double';

/** The params as an object, before they are prepared and validated. Throws DomainError INVALID_PARAMS. */
export function paramsOf(method: Method, params: unknown): JsonObject {
  if (params === undefined && method.paramsOptional) return {};
  if (!isRecord(params)) throw invalidParams('params', 'must be an object');
  return params as JsonObject;
}

/**
 * The params without what is not theirs to say: unknown fields and the tenant, which comes from the verified caller
 * (13.3). Throws DomainError INVALID_PARAMS with a violation for each field.
 */
export function validateParams(method: Method, params: JsonObject, session: Session): JsonObject {
  const { tenant, ...own } = params;
  if (!mayName(session, tenant)) throw invalidParams('tenant', 'must be absent or the caller’s own');
  // Without words for faults, which make it two to eight times as slow; nearly every call is free of them.
  const { success, data } = method.params.safeParse(own);
  if (!success)
    throw new DomainError('INVALID_PARAMS', 'Invalid parameters', { violations: violationsIn(method, own) });
  const path = unstorablePath(data);
  if (path !== undefined) throw invalidParams(path.slice(1) || 'params', UNSTORABLE_TEXT);
  return data as JsonObject;
}

function mayName(session: Session, tenant: unknown): boolean {
  if (tenant === undefined || tenant === null || tenant === '') return true;
  return tenant === session.caller.owner.tenant || tenant === session.tenant;
}

/** Schemas that say something of their own keep it; undefined leaves the library's words. */
function missing({ input }: { readonly input?: unknown }): string | undefined {
  return input === undefined ? 'is required' : undefined;
}

function violationsIn(method: Method, params: JsonObject): readonly Violation[] {
  const issues = method.params.safeParse(params, { error: missing }).error?.issues ?? [];
  return issues.map((issue) => ({ field: fieldPath(issue.path), description: issue.message }));
}

function fieldPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text === '' ? String(step) : `.${String(step)}`;
  }
  return text === '' ? 'params' : text;
}

/** One of the databases cannot hold NUL and lone surrogates, so neither does. A pattern for both takes 50 times as long. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/**
 * Where the first string or number is that cannot be stored, keys included: its path below `value`, or undefined. The
 * path is put together on the way back, since nearly every walk finds nothing.
 */
function unstorablePath(value: unknown): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : '';
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : '';
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const below = unstorablePath(value[index]);
      if (below !== undefined) return `[${index}]${below}`;
    }
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  for (const key of Object.keys(value)) {
    if (!isStorable(key)) return '';
    const below = unstorablePath(value[key]);
    if (below !== undefined) return `.${key}${below}`;
  }
  return undefined;
}
