import type BetterSqlite3 from 'better-sqlite3';
import { MIGRATIONS, type Migration } from './migrations.ts';
import { SqliteOpenError } from './open-error.ts';

const CREATE_LEDGER = `
create table if not exists migration (
  version integer primary key,
  name text not null,
  breaking integer not null,
  applied_at integer not null
) strict`;
const SELECT_LEDGER = 'select version, name, breaking from migration order by version';
const RECORD_MIGRATION = 'insert into migration (version, name, breaking, applied_at) values (?, ?, ?, ?)';
const FORGET_MIGRATION = 'delete from migration where version = ?';

interface Applied {
  readonly version: number;
  readonly name: string;
  readonly breaking: number;
}

export interface MigrateOptions {
  /** Version to end at; default the newest known. */
  readonly target?: number;
  /** Epoch milliseconds, written beside each step. */
  readonly now: number;
  readonly migrations?: readonly Migration[];
}

/**
 * Brings the schema to `target`, forward or back. Each step is a transaction of its own that first looks again at what
 * has been applied, so that processes which start together do every step once.
 *
 * Steps that this program does not know are left alone: rejects with SqliteOpenError NEWER_SCHEMA when one of them is
 * breaking, or when `target` would have to undo one. Answers the version that the database then has.
 */
export function migrate(db: BetterSqlite3.Database, options: MigrateOptions): number {
  const known = [...(options.migrations ?? MIGRATIONS)].sort((a, b) => a.version - b.version);
  const newest = known.at(-1)?.version ?? 0;
  const target = options.target ?? newest;
  if (target < 0 || target > newest) throw new RangeError(`no such schema version: ${target}`);
  const enforced = db.pragma('foreign_keys', { simple: true });
  // A step that rebuilds a table drops the old one, and with foreign keys on that deletes whatever refers to it. The
  // pragma does nothing inside a transaction; each step checks the keys itself instead.
  db.pragma('foreign_keys = off');
  // Nor could the new one take the old one's name while triggers of other tables mention it.
  db.pragma('legacy_alter_table = on');
  try {
    for (;;) {
      const done = db.transaction(() => step(db, { known, target, newest, now: options.now })).immediate();
      if (done !== undefined) return done;
    }
  } finally {
    db.pragma('legacy_alter_table = off');
    db.pragma(`foreign_keys = ${enforced}`);
  }
}

const SELECT_LEDGER_EXISTS = "select 1 as one from sqlite_schema where type = 'table' and name = 'migration'";

/**
 * For whoever works on a database without migrating it. Throws SqliteOpenError: it is no database of this service, or
 * lacks a step of this program, or has a breaking one that this program does not know.
 */
export function checkMigrated(db: BetterSqlite3.Database): void {
  if (db.prepare(SELECT_LEDGER_EXISTS).get() === undefined) {
    throw new SqliteOpenError('UNUSABLE', 'this is no database of this service');
  }
  const applied = db.prepare<[], Applied>(SELECT_LEDGER).all();
  const newest = MIGRATIONS.at(-1)?.version ?? 0;
  refuseNewer(applied, { known: MIGRATIONS, target: newest, newest, now: 0 });
  const missing = MIGRATIONS.find(({ version }) => !applied.some((row) => row.version === version));
  if (missing) {
    throw new SqliteOpenError(
      'OLDER_SCHEMA',
      `the database lacks schema version ${missing.version} (${missing.name}): start the service of this program once`,
    );
  }
}

interface Plan {
  readonly known: readonly Migration[];
  readonly target: number;
  readonly newest: number;
  readonly now: number;
}

/** Does one step; answers the version when there is nothing left to do. */
function step(db: BetterSqlite3.Database, plan: Plan): number | undefined {
  db.exec(CREATE_LEDGER);
  const applied = db.prepare<[], Applied>(SELECT_LEDGER).all();
  const versions = new Set(applied.map((row) => row.version));
  refuseNewer(applied, plan);

  const last = plan.known.findLast((migration) => migration.version > plan.target && versions.has(migration.version));
  if (last) {
    change(db, last.down);
    db.prepare(FORGET_MIGRATION).run(last.version);
    return undefined;
  }
  const next = plan.known.find((migration) => migration.version <= plan.target && !versions.has(migration.version));
  if (next) {
    change(db, next.up);
    db.prepare(RECORD_MIGRATION).run(next.version, next.name, next.breaking ? 1 : 0, plan.now);
    return undefined;
  }
  return applied.at(-1)?.version ?? 0;
}

function change(db: BetterSqlite3.Database, sql: string): void {
  db.exec(sql);
  const [orphan] = db.pragma('foreign_key_check') as readonly { readonly table: string; readonly parent: string }[];
  if (orphan) throw new Error(`the migration leaves rows of ${orphan.table} without their ${orphan.parent}`);
}

function refuseNewer(applied: readonly Applied[], plan: Plan): void {
  const unknown = applied.filter((row) => row.version > plan.newest);
  const breaking = unknown.find((row) => row.breaking === 1);
  if (breaking) {
    throw new SqliteOpenError(
      'NEWER_SCHEMA',
      `the database has schema version ${breaking.version} (${breaking.name}), this program knows ${plan.newest}: ` +
        'start the newer program, or let it migrate the database back first',
    );
  }
  const first = unknown[0];
  if (first && plan.target < plan.newest) {
    throw new SqliteOpenError(
      'NEWER_SCHEMA',
      `schema version ${first.version} (${first.name}) has to be undone by the program that made it`,
    );
  }
}
