import type { Connection, Query } from './database.ts';

const SELECT_ENDED = `select pk, owner, context from task
  where terminal = 1 and updated_at <= ? order by updated_at limit ?`;
const SELECT_OF_TENANT = `select t.pk, t.owner, t.context from owner o join task t on t.owner = o.pk
  where o.tenant = ? limit ?`;
/** Foreign keys take everything that hangs on it along. */
const DELETE_TASK = 'delete from task where pk = ?';
const DELETE_EMPTY_CONTEXT = `delete from context where pk = ?
  and not exists (select 1 from task t where t.context = context.pk)`;
const DELETE_EMPTY_OWNER = `delete from owner where pk = ?
  and not exists (select 1 from context x where x.owner = owner.pk)`;

interface TaskKeys {
  readonly pk: number;
  readonly owner: number;
  readonly context: number;
}

/** Tasks per commit. A task may hold thousands of rows; other writers must not wait for many of them. */
export const ERASE_BATCH = 20;

export interface Erasure {
  /** Deletes up to `limit` tasks that ended at `before` or earlier. Answers how many went. */
  ended(before: number, limit: number): number;
  ofTenant(tenant: string, limit: number): number;
}

export function createErasure(connection: Connection): Erasure {
  const selectEnded: Query<[before: number, limit: number], TaskKeys> = connection.prepare(SELECT_ENDED);
  const selectOfTenant: Query<[tenant: string, limit: number], TaskKeys> = connection.prepare(SELECT_OF_TENANT);
  const deleteTask: Query<[pk: number], unknown> = connection.prepare(DELETE_TASK);
  const deleteContext: Query<[pk: number], unknown> = connection.prepare(DELETE_EMPTY_CONTEXT);
  const deleteOwner: Query<[pk: number], unknown> = connection.prepare(DELETE_EMPTY_OWNER);

  function erase(tasks: readonly TaskKeys[]): number {
    for (const task of tasks) {
      deleteTask.run(task.pk);
      if (deleteContext.run(task.context) > 0) deleteOwner.run(task.owner);
    }
    return tasks.length;
  }

  return {
    ended: (before, limit) => erase(selectEnded.all(before, limit)),
    ofTenant: (tenant, limit) => erase(selectOfTenant.all(tenant, limit)),
  };
}

/** Runs `batch` until `limit` went or nothing is left, each run in a commit of its own. */
export async function eraseInBatches(limit: number, batch: (size: number) => Promise<number>): Promise<number> {
  let gone = 0;
  while (gone < limit) {
    const size = Math.min(ERASE_BATCH, limit - gone);
    const went = await batch(size);
    gone += went;
    if (went < size) break;
  }
  return gone;
}
