import { OperatorRefusal } from '../../core/operator-refusal.ts';
import { type Clock, pause } from '../../core/ports/clock.ts';
import type { OperatorStore, RetryView } from '../../core/ports/operator-store.ts';
import type { Audit } from './audit.ts';
import type { Changes } from './changes.ts';
import type { Connection, Query } from './database.ts';
import { ERASE_BATCH, type Erasure } from './erasure.ts';
import { type Executions, toExecution } from './executions.ts';
import type { GroupCommit } from './group-commit.ts';
import type { OperatorRows } from './operator-rows.ts';
import type { Pauses } from './pauses.ts';
import type { Held, TaskRows } from './task-rows.ts';
import type { SqliteTenants } from './tenants.ts';

const DELETE_CREDENTIAL = 'delete from credential where tenant = ? and principal = ?';
/** SQLite queues nobody: without a break between two batches the services beside us would hardly get the file. */
const BREAK_MS = 20;

interface OperatorStoreOptions {
  readonly connection: Connection;
  readonly writes: GroupCommit;
  readonly clock: Clock;
  readonly erasure: Erasure;
  readonly tasks: TaskRows;
  readonly executions: Executions;
  readonly changes: Changes;
  readonly tenants: SqliteTenants;
  readonly rows: OperatorRows;
  readonly audit: Audit;
  readonly pauses: Pauses;
}

export function createOperatorStore(options: OperatorStoreOptions): OperatorStore {
  const { connection, writes, clock, erasure, tasks, executions, changes, tenants, rows, audit, pauses } = options;
  const deleteCredential: Query<[tenant: string, principal: string], unknown> = connection.prepare(DELETE_CREDENTIAL);

  function held(taskId: string): Held {
    const found = tasks.byId(taskId);
    if (!found) throw new OperatorRefusal('UNKNOWN_TASK', `there is no task ${taskId}`);
    return found;
  }

  function knownTenant(id: string): void {
    if (!rows.knowsTenant(id)) throw new OperatorRefusal('UNKNOWN_TENANT', `there is no tenant ${id}`);
  }

  function notRemoved(id: string): void {
    knownTenant(id);
    if (tasks.tenantStatus(id) === 'removed') {
      throw new OperatorRefusal('TENANT_REMOVED', `the tenant ${id} is removed and runs nothing`);
    }
  }

  function retryView({ pk, record, tenant }: Held, now: number): RetryView {
    const turns = rows.turns(pk);
    const dead = new Set(turns.filter(({ outcome }) => outcome === 'dead').map(({ ordinal }) => ordinal));
    const active = tasks.active(record.owner, record.contextId);
    return {
      ...{ now, record, tenant, turns },
      exclusive: rows.exclusive(pk),
      messages: new Map([...rows.messages(pk)].filter(([ordinal]) => dead.has(ordinal))),
      ...(active ? { activeTaskId: active.record.id } : {}),
    };
  }

  /** Commits one batch after the other, with breaks, until there is nothing left. */
  async function inBatches(batch: (size: number) => Promise<number>): Promise<number> {
    for (let gone = 0; ; ) {
      const went = await batch(ERASE_BATCH);
      if (went === 0) return gone;
      gone += went;
      await pause(clock, BREAK_MS);
    }
  }

  return {
    executions: async (query) => connection.snapshot(() => rows.executions(query)),
    tasks: async (query) => connection.snapshot(() => rows.tasks(query)),
    tenants: async () => connection.snapshot(() => rows.tenants()),
    audit: async (limit) => connection.snapshot(() => audit.newest(limit)),
    actsAfter: async (number, limit) => connection.snapshot(() => audit.after(number, limit)),

    runner: async () =>
      connection.snapshot(() => {
        const pausedAt = pauses.runner();
        return pausedAt === undefined ? {} : { pausedAt };
      }),

    taskFile: async (taskId) =>
      connection.snapshot(() => {
        const found = tasks.byId(taskId);
        if (!found) return undefined;
        const { pk, record, tenant } = found;
        const tenantPausedAt = pauses.tenant(record.owner.tenant);
        return {
          ...{ record, tenant },
          exclusive: rows.exclusive(pk),
          ...(tenantPausedAt === undefined ? {} : { tenantPausedAt }),
          messages: [...rows.messages(pk).values()],
          turns: rows.turns(pk),
          attempts: rows.attempts(pk),
          steps: rows.steps(pk),
          acts: audit.ofTask(taskId),
        };
      }),

    retry: (act, taskId, decide) =>
      writes.run((tx) => {
        const old = held(taskId);
        const { owner } = old.record;
        const { ordinal, ...creation } = decide(retryView(old, tx.now));
        const { record } = changes.create({ owner, arrival: old, ...creation }, tx);
        rows.noteRetry(old.pk, ordinal, record.id);
        const detail = { retriedAs: record.id };
        audit.write(act, { act: 'execution.retry', tenant: owner.tenant, taskId, ordinal, detail }, tx.now);
        return record;
      }),

    close: (act, taskId, choose) =>
      writes.run(({ now }) => {
        const { pk, record } = held(taskId);
        const ordinal = choose(rows.turns(pk));
        rows.closeDead(pk, ordinal);
        audit.write(act, { act: 'execution.close', tenant: record.owner.tenant, taskId, ordinal }, now);
        return { ordinal };
      }),

    cancel: (act, taskId, decide) =>
      writes.run((tx) => {
        const before = held(taskId);
        const open = executions.open(before.pk).map(toExecution);
        const change = decide({ now: tx.now, record: before.record, open, artifacts: new Map(), lost: new Map() });
        if (!change) return { record: before.record, changed: false };
        const { record } = changes.apply(before, change, tx);
        const detail = { from: before.record.status.state, to: record.status.state };
        audit.write(act, { act: 'task.cancel', tenant: record.owner.tenant, taskId, detail }, tx.now);
        return { record, changed: true };
      }),

    pauseTenant: (act, tenant) =>
      writes.run(({ now }) => {
        notRemoved(tenant);
        if (!pauses.pauseTenant(tenant, now)) return false;
        audit.write(act, { act: 'tenant.pause', tenant }, now);
        return true;
      }),

    resumeTenant: (act, tenant) =>
      writes.run((tx) => {
        notRemoved(tenant);
        if (!pauses.resumeTenant(tenant)) return false;
        audit.write(act, { act: 'tenant.resume', tenant }, tx.now);
        tx.notify('work');
        return true;
      }),

    pauseRunner: (act) =>
      writes.run(({ now }) => {
        if (!pauses.pauseRunner(now)) return false;
        audit.write(act, { act: 'runner.pause' }, now);
        return true;
      }),

    resumeRunner: (act) =>
      writes.run((tx) => {
        if (!pauses.resumeRunner()) return false;
        audit.write(act, { act: 'runner.resume' }, tx.now);
        tx.notify('work');
        return true;
      }),

    async eraseTenant(act, tenant) {
      await writes.run((tx) => {
        knownTenant(tenant);
        tenants.removeWithin(tenant, tx);
        audit.write(act, { act: 'tenant.erase', tenant }, tx.now);
      });
      return inBatches((size) => tenants.erase(tenant, size));
    },

    async restoreTenant(act, tenant) {
      await writes.run(() => knownTenant(tenant));
      return tenants.restore(tenant, ({ now }) => audit.write(act, { act: 'tenant.restore', tenant }, now));
    },

    async erasePrincipal(act, { principal, pseudonym, tenant }) {
      const places = await writes.run((tx) => {
        const found = rows.tenantsOf(principal).filter((each) => tenant === undefined || each === tenant);
        if (found.length === 0) {
          const where = tenant === undefined ? '' : ` in tenant ${tenant}`;
          throw new OperatorRefusal('UNKNOWN_PRINCIPAL', `nothing is stored of principal ${principal}${where}`);
        }
        const count = found.reduce((sum, each) => sum + rows.countOf(each, principal), 0);
        const detail = { tasks: count, tenants: found.length };
        const where = tenant === undefined ? {} : { tenant };
        audit.write(act, { act: 'principal.erase', ...where, principal: pseudonym, detail }, tx.now);
        return found;
      });
      let gone = 0;
      for (const place of places) {
        gone += await inBatches((size) =>
          writes.run((tx) => {
            // In each: a call that came in between may have brought another one.
            deleteCredential.run(place, principal);
            // Turns that ran find their fence gone.
            tx.notifyAll();
            return erasure.ofPrincipal(place, principal, size);
          }),
        );
      }
      return gone;
    },
  };
}
