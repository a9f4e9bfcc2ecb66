import type { Connection, Query } from './database.ts';
import { LIMIT } from './limit.ts';

const SELECT_ENDED = `select pk, owner, context, sequence from task
  where ended = 1 and updated_at <= ? order by updated_at ${LIMIT}`;
const SELECT_OF_TENANT = `select t.pk, t.owner, t.context, t.sequence from owner o join task t on t.owner = o.pk
  where o.tenant = ? ${LIMIT}`;
const SELECT_OF_PRINCIPAL = `select t.pk, t.owner, t.context, t.sequence from owner o join task t on t.owner = o.pk
  where o.tenant = ? and o.principal = ? ${LIMIT}`;
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
  readonly sequence: number;
}

/*
 * A commit erases this many tasks at most, and stops after this many events: nobody else gets on meanwhile, and an event
 * with what it wrote takes about 10 µs. 20 tasks of 5,000 events in one commit stopped the event loop for 0.9 s.
 */
export const ERASE_BATCH = 20;
const ERASE_EVENTS = 2_000;

/** Each deletes up to `limit` tasks, fewer when they are large, and answers how many went; 0 = there are none. */
export interface Erasure {
  /** Tasks that ended at `before` or earlier. */
  ended(before: number, limit: number): number;
  ofTenant(tenant: string, limit: number): number;
  ofPrincipal(tenant: string, principal: string, limit: number): number;
}

export function createErasure(connection: Connection): Erasure {
  const selectEnded: Query<[before: number, limit: number], TaskKeys> = connection.prepare(SELECT_ENDED);
  const selectOfTenant: Query<[tenant: string, limit: number], TaskKeys> = connection.prepare(SELECT_OF_TENANT);
  const selectOfPrincipal: Query<[tenant: string, principal: string, limit: number], TaskKeys> =
    connection.prepare(SELECT_OF_PRINCIPAL);
  const deleteTask: Query<[pk: number], unknown> = connection.prepare(DELETE_TASK);
  const deleteContext: Query<[pk: number], unknown> = connection.prepare(DELETE_EMPTY_CONTEXT);
  const deleteOwner: Query<[pk: number], unknown> = connection.prepare(DELETE_EMPTY_OWNER);

  function erase(tasks: readonly TaskKeys[]): number {
    let gone = 0;
    let events = 0;
    for (const task of tasks) {
      if (events >= ERASE_EVENTS) break;
      deleteTask.run(task.pk);
      if (deleteContext.run(task.context) > 0) deleteOwner.run(task.owner);
      gone += 1;
      events += task.sequence;
    }
    return gone;
  }

  return {
    ended: (before, limit) => erase(selectEnded.all(before, limit)),
    ofTenant: (tenant, limit) => erase(selectOfTenant.all(tenant, limit)),
    ofPrincipal: (tenant, principal, limit) => erase(selectOfPrincipal.all(tenant, principal, limit)),
  };
}

/** Runs `batch` until `limit` went or nothing is left, each run in a commit of its own. */
export async function eraseInBatches(limit: number, batch: (size: number) => Promise<number>): Promise<number> {
  let gone = 0;
  while (gone < limit) {
    const went = await batch(Math.min(ERASE_BATCH, limit - gone));
    if (went === 0) break;
    gone += went;
  }
  return gone;
}
