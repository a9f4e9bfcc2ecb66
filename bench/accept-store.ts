import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteStore } from '../adapters/sqlite/open.ts';
import type { Message } from '../core/message.ts';
import type { AcceptDecision, TaskStore } from '../core/ports/task-store.ts';
import { createWakeups } from '../core/runtime/wakeups.ts';
import { systemClock, timeOrderedIds } from '../src/system-clock.ts';
import { atLeast } from './bars.ts';
import type { Scenario } from './scenario.ts';
import { median } from './statistics.ts';
import { makeTempDir } from './temp-dir.ts';

const ALONE = 1_000;
const GROUPED = 6_400;
const GROUP = 64;
const ROUNDS = 5;
const RATIO_MIN = 8;
const OWNER = { tenant: 'bench', principal: 'bench', agent: 'agent' };

/** A first message as an edge sends it. Its ids are random as in life: each dirties a page of its own index. */
function accept(store: TaskStore): Promise<unknown> {
  const id = timeOrderedIds.next();
  const contextId = timeOrderedIds.next();
  const messageId = timeOrderedIds.next();
  const message: Message = { messageId, role: 'ROLE_USER', parts: [{ text: 'Please summarise this work item.' }] };
  const status = { state: 'TASK_STATE_SUBMITTED', timestamp: new Date(systemClock.now()).toISOString() } as const;
  return store.accept(
    { owner: OWNER, key: { contextId: '', messageId, fingerprint: messageId } },
    (): AcceptDecision => ({
      kind: 'create',
      task: { id, contextId },
      answer: 'task',
      exclusive: false,
      change: {
        status,
        messages: [message],
        events: [{ task: { id, contextId, status } }],
        executions: [{ open: 1 }],
      },
    }),
  );
}

/** Accepts in a second when so many are sent at once and waited for. */
async function rate(store: TaskStore, count: number, atOnce: number): Promise<number> {
  const start = performance.now();
  for (let done = 0; done < count; done += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, () => accept(store)));
  }
  return count / ((performance.now() - start) / 1_000);
}

/** What group commit is worth: the ratio is the point, the rates are the disk's and the neighbours'. */
export const acceptStore: Scenario = async (print) => {
  const folder = await makeTempDir();
  const wakeups = createWakeups(systemClock);
  const { store } = await openSqliteStore({ path: join(folder, 'bench.db'), clock: systemClock, wakeups });
  await rate(store, GROUPED, GROUP);
  const alone: number[] = [];
  const grouped: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const one = await rate(store, ALONE, 1);
    const many = await rate(store, GROUPED, GROUP);
    alone.push(one);
    grouped.push(many);
    print(`accepts/s: ${one.toFixed(0)} one by one, ${many.toFixed(0)} by ${GROUP}, ratio ${(many / one).toFixed(1)}`);
  }
  const ratio = median(alone.map((one, round) => (grouped[round] ?? Number.NaN) / one));
  print(`median ratio ${ratio.toFixed(1)} ${atLeast(ratio, RATIO_MIN)}`);
  await store.close();
  await rm(folder, { recursive: true });
  return { alonePerSecond: median(alone), groupedPerSecond: median(grouped), ratio };
};
