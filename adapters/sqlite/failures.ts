import BetterSqlite3 from 'better-sqlite3';
import { DomainError, type StoreFault } from '../../core/errors.ts';

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

/** In this order: an extended code begins with its plain one. */
const FAULTS: readonly (readonly [RegExp, StoreFault])[] = [
  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, 'locked'],
  [/^SQLITE_FULL/, 'full'],
  [/^SQLITE_READONLY_DBMOVED/, 'moved'],
  [/^SQLITE_(READONLY|PERM|AUTH)/, 'readonly'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'damaged'],
];

/** What an error of the database says about it. */
export function faultOf(error: unknown): StoreFault {
  const code = sqliteCode(error) ?? '';
  return FAULTS.find(([pattern]) => pattern.test(code))?.[1] ?? 'failing';
}

export function unavailable(storeFault: StoreFault, cause?: unknown): DomainError {
  const details = { retryAfterMs: RETRY_AFTER_MS, storeFault, cause };
  return new DomainError('STORE_UNAVAILABLE', 'The store is not available', details);
}

/** A rule of the store was broken by its caller: a fault of this program. `what` goes to the log only. */
export function broken(what: string, because?: unknown): DomainError {
  const cause = new Error(what, because === undefined ? undefined : { cause: because });
  return new DomainError('INTERNAL', 'Internal error', { cause });
}

/**
 * What an operation rejects with: what decide threw stays as it is, and no text of SQLite leaves the store. A unique
 * key that is taken means that somebody else was first, and the repeat will see it: retryable, not internal.
 */
export function asRejection(error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === undefined) return error;
  if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY' || isFatal(error)) {
    return unavailable(faultOf(error), error);
  }
  return new DomainError('INTERNAL', 'Internal error', { cause: error });
}
