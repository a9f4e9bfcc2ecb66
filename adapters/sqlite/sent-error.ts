import { DomainError, type DomainErrorDetails, type ErrorCode } from '../../core/errors.ts';
import { sqliteCode } from './failures.ts';

/** An error on its way between two threads, which would lose its class and its fields. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** Of SQLite or of the system. */
  readonly code?: string;
  readonly cause?: SentError;
  /** It is a DomainError. */
  readonly domain?: Omit<DomainErrorDetails, 'cause'> & { readonly code: ErrorCode };
}

export function sentError(error: unknown): SentError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message, stack, cause } = error;
  const code = sqliteCode(error) ?? (error as NodeJS.ErrnoException).code;
  return {
    name,
    message,
    ...(stack === undefined ? {} : { stack }),
    ...(typeof code === 'string' ? { code } : {}),
    ...(cause === undefined ? {} : { cause: sentError(cause) }),
    ...(error instanceof DomainError ? { domain: detailsOf(error) } : {}),
  };
}

function detailsOf({ code, violations, retryAfterMs, limit, tokenHash, storeFault }: DomainError) {
  return {
    code,
    violations,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(limit === undefined ? {} : { limit }),
    ...(tokenHash === undefined ? {} : { tokenHash }),
    ...(storeFault === undefined ? {} : { storeFault }),
  };
}

/** Its equal in this thread. */
export function receivedError({ name, message, stack, code, cause, domain }: SentError): Error {
  const because = cause && receivedError(cause);
  const error = domain
    ? new DomainError(domain.code, message, { ...domain, cause: because })
    : Object.assign(new Error(message, because && { cause: because }), { name, ...(code !== undefined && { code }) });
  if (stack !== undefined) error.stack = stack;
  return error;
}
