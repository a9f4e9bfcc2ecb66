import type { Connection, Query } from './database.ts';
import { HELD_MS } from './migrations.ts';

/*
 * Pauses are rows that the claim looks at, so they hold for every process from their commit on. Turns that wait are put
 * out of the claim's range besides (see HELD_MS); new ones are put there when they are opened.
 */

const SELECT_TENANT_PAUSE = 'select since from tenant_pause where tenant = ?';
const INSERT_TENANT_PAUSE = 'insert or ignore into tenant_pause (tenant, since) values (?, ?)';
const DELETE_TENANT_PAUSE = 'delete from tenant_pause where tenant = ?';
const LIVE_TASKS = `(select t.pk from owner o join task t on t.owner = o.pk and t.ended = 0 where o.tenant = ?)`;
/** Not those that are leased: they run on, and the claim sees to it that nobody takes them over. */
const HOLD = `update execution indexed by execution_open set claimable_at = claimable_at + ${HELD_MS}
  where outcome = 'open' and lease_owner is null and claimable_at < ${HELD_MS} and task in ${LIVE_TASKS}`;
const RELEASE = `update execution indexed by execution_open set claimable_at = claimable_at - ${HELD_MS}
  where outcome = 'open' and claimable_at >= ${HELD_MS} and task in ${LIVE_TASKS}`;
const SELECT_RUNNER_PAUSE = 'select since from runner_pause where id = 1';
const INSERT_RUNNER_PAUSE = 'insert or ignore into runner_pause (id, since) values (1, ?)';
const DELETE_RUNNER_PAUSE = 'delete from runner_pause where id = 1';

/** Each change answers whether there was one to make. */
export interface Pauses {
  tenant(id: string): number | undefined;
  pauseTenant(id: string, now: number): boolean;
  resumeTenant(id: string): boolean;
  runner(): number | undefined;
  pauseRunner(now: number): boolean;
  resumeRunner(): boolean;
}

export function createPauses(connection: Connection): Pauses {
  const selectTenant: Query<[tenant: string], { since: number }> = connection.prepare(SELECT_TENANT_PAUSE);
  const insertTenant: Query<[tenant: string, since: number], unknown> = connection.prepare(INSERT_TENANT_PAUSE);
  const deleteTenant: Query<[tenant: string], unknown> = connection.prepare(DELETE_TENANT_PAUSE);
  const hold: Query<[tenant: string], unknown> = connection.prepare(HOLD);
  const release: Query<[tenant: string], unknown> = connection.prepare(RELEASE);
  const selectRunner: Query<[], { since: number }> = connection.prepare(SELECT_RUNNER_PAUSE);
  const insertRunner: Query<[since: number], unknown> = connection.prepare(INSERT_RUNNER_PAUSE);
  const deleteRunner: Query<[], unknown> = connection.prepare(DELETE_RUNNER_PAUSE);

  return {
    tenant: (id) => selectTenant.get(id)?.since,
    pauseTenant(id, now) {
      if (insertTenant.run(id, now) === 0) return false;
      hold.run(id);
      return true;
    },
    resumeTenant(id) {
      if (deleteTenant.run(id) === 0) return false;
      release.run(id);
      return true;
    },
    runner: () => selectRunner.get()?.since,
    pauseRunner: (now) => insertRunner.run(now) > 0,
    resumeRunner: () => deleteRunner.run() > 0,
  };
}
