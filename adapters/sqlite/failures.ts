import BetterSqlite3 from 'better-sqlite3';
import { DomainError } from '../../core/errors.ts';

/** What a caller waits before it repeats a write that the database could not take. */
const RETRY_AFTER_MS = 1_000;

/** After one of these nothing in the transaction can be trusted, or there is none any more. */
const FATAL = /^SQLITE_(IOERR|FULL|NOMEM|CORRUPT|NOTADB|BUSY|LOCKED|READONLY|CANTOPEN|PROTOCOL|INTERRUPT|PERM|AUTH)/;

export function sqliteCode(error: unknown): string | undefined {
  return error instanceof BetterSqlite3.SqliteError ? error.code : undefined;
}

export function isBusy(error: unknown): boolean {
  return sqliteCode(error)?.startsWith('SQLITE_BUSY') ?? false;
}

export function isFatal(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && FATAL.test(code);
}

export function unavailable(cause?: unknown): DomainError {
  return new DomainError('STORE_UNAVAILABLE', 'The store is not available', { retryAfterMs: RETRY_AFTER_MS, cause });
}

/** A rule of the store was broken by its caller: a fault of this program. `what` goes to the log only. */
export function broken(what: string): DomainError {
  return new DomainError('INTERNAL', 'Internal error', { cause: new Error(what) });
}

/**
 * What an operation rejects with: what decide threw stays as it is, and no text of SQLite leaves the store. A unique
 * key that is taken means that somebody else was first, and the repeat will see it: retryable, not internal.
 */
export function asRejection(error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === undefined) return error;
  if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY' || isFatal(error)) {
    return unavailable(error);
  }
  return new DomainError('INTERNAL', 'Internal error', { cause: error });
}
