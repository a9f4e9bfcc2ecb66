import type { Clock } from '../../core/ports/clock.ts';
import type { TaskStore } from '../../core/ports/task-store.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { Tenants } from '../../core/ports/tenants.ts';
import type { Wakeups } from '../../core/ports/wakeups.ts';
import { watchOtherProcesses } from './change-watch.ts';
import { type Counters, openConnection } from './database.ts';
import { createErasure } from './erasure.ts';
import { createGroupCommit } from './group-commit.ts';
import { createTaskStore } from './task-store.ts';
import { createTenants } from './tenants.ts';

export interface SqliteStoreOptions {
  /** File; it and its folder are created when missing. Several processes may have it open. */
  readonly path: string;
  readonly clock: Clock;
  readonly wakeups: Wakeups;
  readonly telemetry?: Telemetry;
}

export interface SqliteStore {
  readonly store: TaskStore;
  readonly tenants: Tenants;
  /** Since the store was opened. */
  stats(): Readonly<Counters>;
  /** Text of every statement that the store runs, for whoever wants to explain them. */
  readonly statements: readonly string[];
  /** Runs a pragma on the store's own connection and answers its first value. */
  pragma(source: string): unknown;
}

/**
 * Opens the store and migrates its schema. `store.close()` commits what waits and closes the file; `tenants` goes with
 * it. Rejects with SqliteOpenError when the file is damaged, cannot be used or has a newer breaking schema.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { path, clock } = options;
  const connection = openConnection(path, { now: clock.now() });
  const writes = createGroupCommit({ ...options, connection });
  const stopWatch = watchOtherProcesses({ ...options, connection });
  const erasure = createErasure(connection);
  const store = createTaskStore({
    connection,
    writes,
    clock,
    erasure,
    closed() {
      stopWatch();
      connection.db.close();
    },
  });
  const tenants = createTenants({ connection, writes, clock, erasure });
  return {
    store,
    tenants,
    stats: () => ({ ...connection.counters }),
    statements: connection.prepared,
    pragma: (source) => connection.db.pragma(source, { simple: true }),
  };
}
