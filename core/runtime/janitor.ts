import { rule } from '../decide/rules.ts';
import { isDomainError } from '../errors.ts';
import { observeStore } from '../observed-store.ts';
import { type Clock, type Ids, pause } from '../ports/clock.ts';
import type { TaskStore } from '../ports/task-store.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { Tenants } from '../ports/tenants.ts';
import type { Vault } from '../ports/vault.ts';

/*
 * Work that nobody waits for, in batches small enough that nobody notices: deadlines every second, credentials and
 * removed tenants every few, retention now and then. Every act is safe to repeat and safe beside another process's.
 */

export interface JanitorDeps {
  readonly store: TaskStore;
  readonly tenants: Tenants;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly telemetry: Telemetry;
  readonly retentionMs: number;
}

export interface Janitor {
  start(): void;
  stop(): Promise<void>;
}

const BATCH = 100;

export function createJanitor(deps: JanitorDeps): Janitor {
  const { store, tenants, vault, clock, telemetry } = deps;
  const observed = observeStore(store, { telemetry });
  const stopping = new AbortController();
  let loops: Promise<unknown> = Promise.resolve();

  async function every(ms: number, name: string, work: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await work();
      } catch (error) {
        // What the store refuses because it cannot be used, it has said itself.
        const level = isDomainError(error, 'STORE_UNAVAILABLE') ? 'debug' : 'warn';
        telemetry.event(level, 'janitor.failed', { duty: name }, error);
      }
      await pause(clock, ms, stopping.signal);
    }
  }

  async function expire(): Promise<void> {
    for (const taskId of await store.due(BATCH)) {
      try {
        const { changed } = await observed.update({ taskId }, rule('expire', { messageId: deps.ids.next() }));
        if (changed) telemetry.event('info', 'task.expired', { taskId });
      } catch (error) {
        if (isDomainError(error, 'STORE_UNAVAILABLE')) throw error;
        // One task that cannot be ended must not keep the others from it.
        if (!isDomainError(error, 'TASK_NOT_FOUND')) telemetry.event('error', 'task.expiry_failed', { taskId }, error);
      }
    }
  }

  async function drain(work: () => Promise<number>): Promise<number> {
    let total = 0;
    for (;;) {
      const count = await work();
      total += count;
      if (count === 0 || stopping.signal.aborted) return total;
      // Lets live traffic in between two batches.
      await pause(clock, 5, stopping.signal);
    }
  }

  async function eraseRemoved(): Promise<void> {
    for (const tenant of await tenants.removedWithData(BATCH)) {
      const count = await drain(() => tenants.erase(tenant, BATCH));
      telemetry.event('info', 'tenant.erased', { tenant, tasks: count });
    }
  }

  async function sweepCredentials(): Promise<void> {
    vault.retain(await store.sweepCredentials());
  }

  async function purge(): Promise<void> {
    const count = await drain(() => store.purge(deps.retentionMs, BATCH));
    if (count > 0) telemetry.event('info', 'tasks.purged', { tasks: count });
  }

  async function measure(): Promise<void> {
    const backlog = await store.backlog();
    telemetry.gauge('a2a_executions_waiting', backlog.waiting);
    telemetry.gauge('a2a_executions_leased', backlog.leased);
    telemetry.gauge('a2a_executions_oldest_seconds', backlog.oldestMs / 1_000);
  }

  return {
    start: () => {
      loops = Promise.all([
        every(1_000, 'deadlines', expire),
        every(2_000, 'removed tenants', eraseRemoved),
        every(10_000, 'credentials', sweepCredentials),
        every(10_000, 'backlog', measure),
        every(60_000, 'retention', purge),
      ]);
    },
    stop: async () => {
      stopping.abort();
      await loops;
    },
  };
}
