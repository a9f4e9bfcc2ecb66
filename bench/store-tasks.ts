import { openSqliteStore, type SqliteStore } from '../adapters/sqlite/open.ts';
import { decideBegin } from '../core/decide/end.ts';
import { decideSend } from '../core/decide/send.ts';
import { decideEnd } from '../core/decide/turn.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { Claimed, TaskStore } from '../core/ports/task-store.ts';
import { createWakeups } from '../core/runtime/wakeups.ts';
import { systemClock, timeOrderedIds } from '../src/system-clock.ts';

/* Tasks as the service makes them, at the store port and without a service. */

const HOUR_MS = 3_600_000;
/** Operations that share a commit. */
const GROUP = 64;

function open(path: string, clock: Clock): Promise<SqliteStore> {
  return openSqliteStore({ path, clock, wakeups: createWakeups(clock) });
}

export async function openStore(path: string): Promise<TaskStore> {
  return (await open(path, systemClock)).store;
}

export function acceptTask(store: TaskStore): Promise<unknown> {
  const owner = { tenant: 'anonymous', principal: 'anonymous', agent: 'agent' };
  const messageId = timeOrderedIds.next();
  return store.accept({ owner, key: { contextId: '', messageId, fingerprint: messageId } }, (view) =>
    decideSend(view, {
      message: { messageId, role: 'ROLE_USER', parts: [{ text: 'Please summarise this work item.' }] },
      fingerprint: messageId,
      policy: 'parallel',
      answer: 'task',
      deadlineMs: 24 * HOUR_MS,
      newTaskId: timeOrderedIds.next(),
      newContextId: timeOrderedIds.next(),
    }),
  );
}

export async function claimTasks(store: TaskStore, limit: number): Promise<readonly Claimed[]> {
  const request = { agent: 'agent', worker: 'bench', leaseMs: HOUR_MS, limit };
  return (await store.claim(request, (view) => decideBegin(view, timeOrderedIds.next()))).claimed;
}

function complete(store: TaskStore, { fence }: Claimed): Promise<unknown> {
  return store.update({ taskId: fence.taskId, fence }, (view) =>
    decideEnd(view, fence, {
      state: 'TASK_STATE_COMPLETED',
      saying: { messageId: timeOrderedIds.next(), parts: [{ text: 'Done.' }] },
      reply: false,
      taken: [],
      left: [],
      parkedMaxMs: HOUR_MS,
    }),
  );
}

export interface Filling {
  readonly finished: number;
  /** Wait for a runner. */
  readonly queued?: number;
  /** How long ago all of it happened. */
  readonly ageMs?: number;
}

/** A database with so many tasks. */
export async function fillDatabase(path: string, { finished, queued = 0, ageMs = 0 }: Filling): Promise<void> {
  const { store, pragma } = await open(path, { ...systemClock, now: () => systemClock.now() - ageMs });
  // What is measured begins later, and nobody would miss this file.
  pragma('synchronous = off');
  const inGroups = async (count: number, work: (size: number) => Promise<unknown>): Promise<void> => {
    for (let done = 0; done < count; done += GROUP) await work(Math.min(GROUP, count - done));
  };
  const accept = (size: number) => Promise.all(Array.from({ length: size }, () => acceptTask(store)));
  await inGroups(finished, async (size) => {
    await accept(size);
    await Promise.all((await claimTasks(store, size)).map((claimed) => complete(store, claimed)));
  });
  await inGroups(queued, accept);
  await store.close();
}
