import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openSqliteStore, type SqliteStore } from '../../adapters/sqlite/open.ts';
import { createMemoryVault } from '../../adapters/vault/memory-vault.ts';
import type { QueueMax } from '../../core/decide/send.ts';
import { createOperations } from '../../core/operations/create-operations.ts';
import type { Operations } from '../../core/operations/operations.ts';
import type { Agent } from '../../core/ports/agent.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { OperatorStore } from '../../core/ports/operator-store.ts';
import type { PushConfigs } from '../../core/ports/push-configs.ts';
import type { Slots } from '../../core/ports/slots.ts';
import type { TaskStore } from '../../core/ports/task-store.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { Tenants } from '../../core/ports/tenants.ts';
import type { Vault } from '../../core/ports/vault.ts';
import type { Wakeups } from '../../core/ports/wakeups.ts';
import type { Caller, UserToken } from '../../core/principal.ts';
import { createJanitor } from '../../core/runtime/janitor.ts';
import { createRunner, type Runner, type RunnerDeps } from '../../core/runtime/runner.ts';
import { createWakeups } from '../../core/runtime/wakeups.ts';
import { sha256, systemClock, timeOrderedIds } from '../../src/system-clock.ts';
import { createFreezableStore } from './frozen-store.ts';
import { silentTelemetry } from './silent-telemetry.ts';
import { tempDir } from './temp-dir.ts';

export interface WorkerOptions {
  readonly agent: Agent | Agent['run'];
  readonly concurrency?: number;
  readonly concurrencyPerTenant?: number;
  readonly leaseMs?: number;
  readonly parkedMaxMs?: number;
  readonly capabilities?: RunnerDeps['capabilities'];
}

export interface CoreOptions extends WorkerOptions {
  readonly clock?: Clock;
  readonly telemetry?: Telemetry;
  /** Database file of another core, to be a second process on it. Default: a fresh one. */
  readonly path?: string;
  readonly retentionMs?: number;
  readonly queueMax?: QueueMax;
  /** Start without a runner; `addWorker` brings one later. */
  readonly idle?: boolean;
}

/** A runner that can die without a word. */
export interface Worker {
  readonly runner: Runner;
  readonly slots: Slots;
  /** Its process is gone: nothing of it reaches the store any more. */
  freeze(): void;
  /** It wakes up again and believes that it still holds its leases. */
  thaw(): void;
}

export interface CallerOptions {
  readonly tenant?: string;
  readonly token?: UserToken;
}

/** core over a real SQLite store: operations, a runner and the janitor, running. */
export interface Core {
  readonly operations: Operations;
  readonly store: TaskStore;
  readonly tenants: Tenants;
  readonly operator: OperatorStore;
  readonly pushConfigs: PushConfigs;
  readonly vault: Vault;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly path: string;
  /** What the store has cost until now. */
  readonly stats: SqliteStore['stats'];
  readonly runner: Runner;
  readonly worker: Worker;
  caller(name: string, options?: CallerOptions): Caller;
  addWorker(options: WorkerOptions): Worker;
  /** Stops runners and janitor and closes the store. Also done by the end of the test. */
  stop(drainMs?: number): Promise<void>;
}

const AGENT_ID = 'agent';

export async function createCore(t: TestContext, options: CoreOptions): Promise<Core> {
  const clock = options.clock ?? systemClock;
  const telemetry = options.telemetry ?? silentTelemetry;
  const path = options.path ?? join(tempDir(t), 'connector.db');
  const [ids, digest] = [timeOrderedIds, sha256];
  const wakeups = createWakeups(clock);
  const sqlite = await openSqliteStore({ path, clock, wakeups, telemetry });
  const { store, tenants, operator, pushConfigs, stats } = sqlite;
  const vault = createMemoryVault({ digest, clock });
  const { retentionMs = 86_400_000, queueMax } = options;
  const deps = { store, vault, wakeups, clock, ids, digest, telemetry };
  const janitor = createJanitor({ store, tenants, vault, clock, ids, telemetry, retentionMs });
  const workers: Worker[] = [];

  function addWorker(worker: WorkerOptions): Worker {
    const freezable = createFreezableStore(store);
    const { freeze, thaw, store: own } = freezable;
    const agent = typeof worker.agent === 'function' ? { run: worker.agent } : worker.agent;
    const runner = createRunner({
      ...{ store: own, wakeups, clock, ids, digest, telemetry, agent, agentId: AGENT_ID },
      worker: `worker-${ids.next()}`,
      capabilities: worker.capabilities ?? (async () => ({})),
      concurrency: worker.concurrency ?? 8,
      ...(worker.concurrencyPerTenant ? { concurrencyPerTenant: worker.concurrencyPerTenant } : {}),
      leaseMs: worker.leaseMs ?? 30_000,
      parkedMaxMs: worker.parkedMaxMs ?? 3_600_000,
    });
    // Callers of a dead process are gone with it: whoever still calls is answered by another one, which has no runner.
    const slots: Slots = { reserve: (owner, taskId) => (freezable.frozen ? undefined : runner.reserve(owner, taskId)) };
    const added = { runner, slots, freeze, thaw };
    workers.push(added);
    if (!options.idle || worker !== options) runner.start();
    return added;
  }

  // The service's own timers keep no process alive, and a test may wait for nothing else.
  const alive = setInterval(() => {}, 1_000);
  const worker = addWorker(options);
  const { slots } = worker;
  const operations = createOperations({ ...deps, slots, ...(queueMax ? { queueMax } : {}) });
  janitor.start();
  let stopped: Promise<void> | undefined;

  async function stopAll(drainMs: number): Promise<void> {
    await Promise.all([janitor.stop(), ...workers.map((each) => stopWorker(each, drainMs))]);
    await store.close();
    clearInterval(alive);
  }

  const core: Core = {
    ...{ operations, store, tenants, operator, pushConfigs, vault, wakeups, clock, path, stats, worker, addWorker },
    runner: worker.runner,
    caller: (principal, { tenant = 'test', token } = {}) => ({
      owner: { tenant, principal, agent: AGENT_ID },
      ...(token ? { userToken: token } : {}),
    }),
    stop: (drainMs = 0) => {
      stopped ??= stopAll(drainMs);
      return stopped;
    },
  };
  t.after(() => core.stop());
  return core;
}

/** With a clock that stands still nobody moves the drain on, so only what is ready at once is waited for. */
async function stopWorker({ runner, freeze }: Worker, drainMs: number): Promise<void> {
  const stopped = runner.stop(drainMs);
  if (drainMs > 0) return stopped;
  await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, 50))]);
  freeze();
}
