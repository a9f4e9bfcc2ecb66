import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteStore } from '../adapters/sqlite/open.ts';
import { decideArtifact } from '../core/decide/artifact.ts';
import { decideBegin } from '../core/decide/end.ts';
import { decideSend } from '../core/decide/send.ts';
import type { Fence, TaskStore } from '../core/ports/task-store.ts';
import { createWakeups } from '../core/runtime/wakeups.ts';
import { systemClock, timeOrderedIds } from '../src/system-clock.ts';
import type { Scenario } from './scenario.ts';
import { median } from './statistics.ts';
import { makeTempDir } from './temp-dir.ts';

const CHUNK = 'x'.repeat(200);
const SMALL = 2_500;
const LARGE = 5_000;
const ROUNDS = 3;

async function startTask(store: TaskStore): Promise<Fence> {
  const owner = { tenant: 'bench', principal: 'bench', agent: 'agent' };
  await store.accept({ owner }, (view) =>
    decideSend(view, {
      message: { messageId: timeOrderedIds.next(), role: 'ROLE_USER', parts: [{ text: 'go' }] },
      fingerprint: 'none',
      policy: 'parallel',
      answer: 'task',
      deadlineMs: 3_600_000,
      newTaskId: timeOrderedIds.next(),
      newContextId: timeOrderedIds.next(),
    }),
  );
  const [claimed] = await store.claim({ agent: 'agent', worker: 'bench', leaseMs: 3_600_000, limit: 1 }, (view) =>
    decideBegin(view, timeOrderedIds.next()),
  );
  if (!claimed) throw new Error('the accepted task was not claimed');
  return claimed.fence;
}

/** Milliseconds for `count` appends to one artifact, one commit each. */
async function appendMs(store: TaskStore, count: number): Promise<number> {
  const fence = await startTask(store);
  const started = performance.now();
  for (let index = 0; index < count; index += 1) {
    await store.update({ taskId: fence.taskId, fence, artifactIds: ['answer'] }, (view) =>
      decideArtifact(view, fence, {
        artifact: { artifactId: 'answer', parts: [{ text: CHUNK }] },
        append: true,
        lastChunk: false,
        first: index === 0,
        joinsPrevious: index > 0,
      }),
    );
  }
  return performance.now() - started;
}

/** Appends at the store port, one commit each: the cost of a chunk must not grow with the artifact. */
export const append: Scenario = async (print) => {
  const folder = await makeTempDir();
  const { store } = await openSqliteStore({
    path: join(folder, 'bench.db'),
    clock: systemClock,
    wakeups: createWakeups(systemClock),
  });
  try {
    await appendMs(store, 500);
    const small: number[] = [];
    const large: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      small.push(await appendMs(store, SMALL));
      large.push(await appendMs(store, LARGE));
    }
    const ratio = median(large) / median(small);
    print(`${SMALL} appends of 200 B: median ${median(small).toFixed(0)} ms over ${ROUNDS} rounds`);
    print(`${LARGE} appends of 200 B: median ${median(large).toFixed(0)} ms over ${ROUNDS} rounds`);
    print(`ratio ${ratio.toFixed(2)} (2.00 = linear)`);
    return { smallMs: median(small), largeMs: median(large), ratio };
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
};
