import type { Clock } from '../../core/ports/clock.ts';
import type { OperatorStore } from '../../core/ports/operator-store.ts';
import type { PushConfigs } from '../../core/ports/push-configs.ts';
import type { TaskStore } from '../../core/ports/task-store.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { Tenants } from '../../core/ports/tenants.ts';
import type { Wakeups } from '../../core/ports/wakeups.ts';
import { createArtifacts } from './artifacts.ts';
import { createAudit } from './audit.ts';
import { watchOtherProcesses } from './change-watch.ts';
import { createChanges } from './changes.ts';
import { watchClock } from './clock-watch.ts';
import { type Connection, type Counters, openConnection, openExistingConnection } from './database.ts';
import { createErasure } from './erasure.ts';
import { createExecutions, type Executions } from './executions.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import { createHealth, type Health } from './health.ts';
import { createKeptTasks } from './kept-tasks.ts';
import { createLanes } from './lanes.ts';
import { createOperatorRows } from './operator-rows.ts';
import { createOperatorStore } from './operator-store.ts';
import { createPauses } from './pauses.ts';
import { createPushConfigRows, createPushConfigs } from './push-configs.ts';
import { createTaskRows } from './task-rows.ts';
import { createTaskStore } from './task-store.ts';
import { createTenants } from './tenants.ts';

export interface SqliteStoreOptions {
  /** File; it and its folder are created when missing. Several processes may have it open. */
  readonly path: string;
  readonly clock: Clock;
  readonly wakeups: Pick<Wakeups, 'notify' | 'notifyAll'>;
  readonly telemetry?: Telemetry;
  /** See GroupCommitOptions: calls `accept` and `update` for those who wait elsewhere, and nothing else. */
  readonly takeWaiting?: () => void;
}

export interface SqliteStore {
  readonly store: TaskStore;
  readonly tenants: Tenants;
  readonly pushConfigs: PushConfigs;
  readonly operator: OperatorStore;
  readonly health: Health;
  /** Since the store was opened. */
  stats(): Readonly<Counters>;
  /** Text of every statement that the store runs, for whoever wants to explain them. */
  readonly statements: readonly string[];
  /** Runs a pragma on the store's own connection and answers its first value. */
  pragma(source: string): unknown;
}

/**
 * Opens the store and migrates its schema. `store.close()` commits what waits and closes the file; the others go with
 * it. Rejects with SqliteOpenError when the file is damaged, cannot be used or has a newer breaking schema.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const health = createHealth(options);
  return assemble(openConnection(options.path, { now: options.clock.now(), health }), options);
}

/**
 * Opens a store that a service has made, for work beside it. Rejects with SqliteOpenError when there is none, or when its
 * schema is not this program's: nothing is created or migrated.
 */
export async function openExistingSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  return assemble(openExistingConnection(options.path, createHealth(options)), options);
}

/** What the service needs of a store: its ports, whichever thread serves them. */
export type SqlitePorts = Pick<SqliteStore, 'store' | 'tenants' | 'pushConfigs' | 'operator'>;

interface PortsOptions {
  readonly connection: Connection;
  readonly writes: GroupCommit;
  readonly clock: Clock;
  readonly executions: Executions;
  /** Called once, after the last write. */
  readonly closed: () => void;
}

/** The ports over one connection: they read from it, and `writes` runs what they write. */
export function createPorts({ closed, ...options }: PortsOptions): SqlitePorts {
  const { connection, writes, executions } = options;
  const erasure = createErasure(connection);
  const tasks = createTaskRows(connection);
  const artifacts = createArtifacts(connection);
  const kept = createKeptTasks(connection);
  const changes = createChanges({ connection, tasks, kept, artifacts, executions });
  const shared = { ...options, erasure, tasks, kept, artifacts, changes };
  const tenants = createTenants(shared);
  const rows = createPushConfigRows(connection);
  return {
    store: createTaskStore({ ...shared, lanes: createLanes(connection), pushConfigs: rows, closed }),
    tenants,
    pushConfigs: createPushConfigs({ connection, writes, rows }),
    operator: createOperatorStore({
      ...shared,
      tenants,
      rows: createOperatorRows(connection),
      audit: createAudit(connection),
      pauses: createPauses(connection),
    }),
  };
}

function assemble(connection: Connection, options: SqliteStoreOptions): SqliteStore {
  const { clock } = options;
  options.telemetry?.gauge('a2a_store_available', 1);
  const writes = createGroupCommit({ ...options, connection });
  const executions = createExecutions(connection);
  const stopWatch = watchOtherProcesses({ ...options, connection });
  const stopClockWatch = watchClock({ ...options, connection, writes, executions });
  const closed = () => {
    stopWatch();
    stopClockWatch();
    connection.close();
  };
  return {
    ...createPorts({ connection, writes, clock, executions, closed }),
    health: connection.health,
    stats: () => ({ ...connection.counters }),
    statements: connection.prepared,
    pragma: (source) => connection.db.pragma(source, { simple: true }),
  };
}
