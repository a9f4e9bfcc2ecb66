import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { asRejection, broken, isBusy, isFatal, sqliteCode, unavailable } from './failures.ts';
import { type FileGuard, guardFiles } from './file-guard.ts';
import type { Health } from './health.ts';
import { checkMigrated, type MigrateOptions, migrate } from './migrate.ts';
import { adviceFor, RESTORE, SqliteOpenError } from './open-error.ts';

type Value = string | number | null;

/** A prepared statement. `run` answers how many rows it changed, `insert` the integer key of the row it made. */
export interface Query<P extends readonly Value[], R> {
  get(...params: P): R | undefined;
  all(...params: P): R[];
  run(...params: P): number;
  insert(...params: P): number;
}

export interface Counters {
  commits: number;
  statements: number;
  /** Without the rows that foreign keys delete. */
  rowsWritten: number;
}

/** The one connection of a store. Everything on it is synchronous, so nothing ever reads inside somebody's transaction. */
export interface Connection {
  readonly db: BetterSqlite3.Database;
  readonly health: Health;
  readonly files: FileGuard;
  readonly counters: Counters;
  /** Text of every statement, in the order of preparation. */
  readonly prepared: readonly string[];
  /** `followed`: what it writes is known to those who keep rows, so it does not move the revision. */
  prepare<P extends readonly Value[], R = unknown>(sql: string, followed?: 'followed'): Query<P, R>;
  /** Another number: rows of KEPT_TABLES may be others than those that were read or written before. */
  readonly revision: number;
  revise(): void;
  /** Runs one statement that only reads: it sees one commit without a transaction around it. Throws DomainError. */
  read<T>(read: () => T): T;
  /** Runs reads that must see one and the same commit. Throws DomainError. */
  snapshot<T>(read: () => T): T;
  close(): void;
}

export interface OpenOptions extends MigrateOptions {
  readonly health: Health;
}

/** How long a statement blocks the event loop when another process writes. What is left is waited for asynchronously. */
const BUSY_MS = 50;
/** At the start nothing else runs yet, so waiting for another process's migration may block. */
const BUSY_AT_START_MS = 10_000;
/** `quick_check` reads the whole file: 0.1 s for this much when it is cached. Larger ones are believed, or a start could take minutes. */
const CHECKED_BYTES = 128 * 1024 * 1024;
/** 8 MB: copying them takes tens of milliseconds, in which nothing else runs. */
const CHECKPOINT_PAGES = 2_000;
/** Rows that transactions may keep: see kept-tasks.ts. */
const KEPT_TABLES: ReadonlySet<string | undefined> = new Set([
  ...['task', 'owner', 'context', 'tenant', 'credential', 'execution'],
  // Of a statement that does not say it first.
  undefined,
]);
const WRITTEN_TABLE = /^\s*(?:insert(?: or \w+)? into|update(?: or \w+)?|delete from) (\w+)/;
/** Rows of so few columns are quicker as the binding makes them. */
const NARROW = 3;
/** For a connection that commits nothing. */
const UNGUARDED: FileGuard = { before: () => undefined, after: () => undefined, close() {} };
/** The WAL file is cut back to this after a burst. */
const WAL_BYTES = 64 * 1024 * 1024;

/**
 * Opens the file, creates it (0600) with its folder (0700), checks it and migrates it. WAL with synchronous=FULL: a
 * commit that was answered is on the disk; SQLite's usual NORMAL for WAL would lose it with the power.
 * Throws SqliteOpenError.
 */
export function openConnection(path: string, options: OpenOptions): Connection {
  const db = openFile(path);
  try {
    configure(db);
    check(db, path);
    migrate(db, options);
    return connect(db, options.health, guarded(db, path));
  } catch (error) {
    db.close();
    throw refusal(path, error);
  }
}

/**
 * Opens a file that a service has made, for work beside it: nothing is created, migrated or read through. Throws
 * SqliteOpenError, also when the schema is not the one that this program knows.
 */
export function openExistingConnection(path: string, health: Health): Connection {
  let db: BetterSqlite3.Database | undefined;
  try {
    requireFile(path);
    db = new BetterSqlite3(path, { fileMustExist: true, timeout: BUSY_AT_START_MS });
    checkMigrated(db);
    configure(db);
    return connect(db, health, guarded(db, path));
  } catch (error) {
    db?.close();
    throw refusal(path, error);
  }
}

/**
 * Opens a file that another connection of this process keeps in order: for reads alone, which then see each commit as soon as
 * it is made. Throws SqliteOpenError.
 */
export function openReadingConnection(path: string, health: Health): Connection {
  try {
    const db = new BetterSqlite3(path, { fileMustExist: true });
    db.pragma('query_only = on');
    db.pragma('trusted_schema = off');
    return connect(db, health, UNGUARDED);
  } catch (error) {
    throw refusal(path, error);
  }
}

/** SQLite says only "unable to open", whatever the reason. Throws SqliteOpenError. */
export function requireFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new SqliteOpenError('MISSING', `there is no database ${path}`);
  if (!found.isFile()) throw new SqliteOpenError('UNUSABLE', `this is not a file: ${path}`);
}

/** One after the other: Node's own `recursive` tries for ever where the parent is there and takes no folder, as in /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process that starts with this one may have been quicker.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function openFile(path: string): BetterSqlite3.Database {
  try {
    makeFolder(dirname(path));
    // SQLite creates files world-readable; the -wal and -shm files take the mode of this one.
    closeSync(openSync(path, 'a', 0o600));
    return new BetterSqlite3(path, { timeout: BUSY_AT_START_MS });
  } catch (error) {
    throw refusal(path, error);
  }
}

function configure(db: BetterSqlite3.Database): void {
  // Two processes that turn WAL on together get "busy" at once, whatever the timeout says; the other one is done soon.
  for (let attempt = 1; ; attempt += 1) {
    try {
      const mode = db.pragma('journal_mode = wal', { simple: true });
      if (mode !== 'wal') throw new SqliteOpenError('UNUSABLE', `this file cannot use a write-ahead log (${mode})`);
      break;
    } catch (error) {
      if (!isBusy(error) || attempt === 100) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
  db.pragma('synchronous = full');
  db.pragma('foreign_keys = on');
  db.pragma('trusted_schema = off');
  // What is erased is overwritten in the file, not only let go of.
  db.pragma('secure_delete = on');
  // Savepoints keep the old pages aside; in a temporary file (the default) that doubles what a grouped write costs.
  db.pragma('temp_store = memory');
  // A checkpoint copies each page once, however often it was written: half as many of them as by default.
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.pragma(`journal_size_limit = ${WAL_BYTES}`);
}

function check(db: BetterSqlite3.Database, path: string): void {
  if (statSync(path).size > CHECKED_BYTES) return;
  const found = db.pragma('quick_check(1)', { simple: true });
  if (found === 'ok') return;
  const what = String(found).replaceAll('\n', ' ');
  throw new SqliteOpenError('CORRUPT', `the database file is damaged (${what}): ${path}; ${RESTORE}`);
}

export function refusal(path: string, error: unknown): unknown {
  if (error instanceof SqliteOpenError) return error;
  const code = sqliteCode(error);
  if (code?.startsWith('SQLITE_NOTADB') || code?.startsWith('SQLITE_CORRUPT')) {
    return new SqliteOpenError('CORRUPT', `the file is damaged or no SQLite database: ${path}; ${RESTORE}`, error);
  }
  const reason = error instanceof Error ? error.message : String(error);
  const advice = adviceFor(code ?? (error as { readonly code?: string }).code);
  const said = `the database file cannot be used (${reason}): ${path}${advice === undefined ? '' : `; ${advice}`}`;
  return new SqliteOpenError('UNUSABLE', said, error);
}

function asArrays(statement: BetterSqlite3.Statement<unknown[], unknown>) {
  return statement.raw() as BetterSqlite3.Statement<unknown[], readonly Value[]>;
}

type Row = Record<string, Value | undefined>;

/** All columns at once: an object that is given more than 16 names one by one becomes a dictionary, which is slow to read. */
function blankRow(names: readonly string[]): Row {
  return Object.fromEntries(names.map((name) => [name, null]));
}

/** What the binding would make, which calls into the engine for each property: half the time of a task's row. */
function rowOf(blank: Row, names: readonly string[], values: readonly Value[]): Row {
  const row = { ...blank };
  for (let index = 0; index < names.length; index += 1) row[names[index] ?? ''] = values[index];
  return row;
}

function guarded(db: BetterSqlite3.Database, path: string): FileGuard {
  // The log is opened with the first read in WAL mode, and its name is looked at from then on.
  db.pragma('user_version');
  return guardFiles(path, WAL_BYTES);
}

function connect(db: BetterSqlite3.Database, health: Health, files: FileGuard): Connection {
  db.pragma(`busy_timeout = ${BUSY_MS}`);
  const counters: Counters = { commits: 0, statements: 0, rowsWritten: 0 };
  const prepared: string[] = [];
  let revision = 0;

  function revise(): void {
    revision += 1;
  }

  function prepare<P extends readonly Value[], R>(sql: string, followed?: 'followed'): Query<P, R> {
    prepared.push(sql);
    const statement = db.prepare<unknown[], R>(sql);
    const revises = !followed && !statement.readonly && KEPT_TABLES.has(WRITTEN_TABLE.exec(sql)?.[1]);
    const names = statement.reader ? statement.columns().map(({ name }) => name) : [];
    const wide = names.length > NARROW ? asArrays(statement) : undefined;
    const blank = blankRow(names);
    return {
      get(...params) {
        counters.statements += 1;
        if (!wide) return statement.get(...params);
        const values = wide.get(...params);
        return values && (rowOf(blank, names, values) as R);
      },
      all(...params) {
        counters.statements += 1;
        if (!wide) return statement.all(...params);
        return wide.all(...params).map((values) => rowOf(blank, names, values) as R);
      },
      run(...params) {
        counters.statements += 1;
        const { changes } = statement.run(...params);
        counters.rowsWritten += changes;
        if (revises && changes > 0) revise();
        return changes;
      },
      insert(...params) {
        counters.statements += 1;
        counters.rowsWritten += 1;
        if (revises) revise();
        return Number(statement.run(...params).lastInsertRowid);
      },
    };
  }

  const begin = db.prepare('begin');
  const commit = db.prepare('commit');

  function usable(): void {
    if (!db.open) throw unavailable('closed');
    if (health.unreadable) throw health.refused(health.unreadable);
  }

  function rejectionOf(error: unknown): unknown {
    return isFatal(error) ? health.failed(error) : asRejection(error);
  }

  function read<T>(read: () => T): T {
    usable();
    // It would see what is not committed yet.
    if (db.inTransaction) throw broken('a read inside a transaction');
    try {
      return read();
    } catch (error) {
      throw rejectionOf(error);
    }
  }

  function snapshot<T>(read: () => T): T {
    usable();
    try {
      begin.run();
      try {
        return read();
      } finally {
        if (db.inTransaction) commit.run();
      }
    } catch (error) {
      throw rejectionOf(error);
    }
  }

  let closed = false;
  function close(): void {
    if (closed) return;
    closed = true;
    files.close();
    // Closing in order copies the log into the database. What is wrong with one must not get into the other; the next start
    // takes from the log what its checksums prove.
    if (health.lost !== 'damaged') db.close();
  }

  return {
    ...{ db, health, files, counters, prepared, prepare, revise, read, snapshot, close },
    get revision() {
      return revision;
    },
  };
}
