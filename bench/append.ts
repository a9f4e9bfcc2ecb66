import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { decideArtifact } from '../core/decide/artifact.ts';
import type { Fence, TaskStore } from '../core/ports/task-store.ts';
import { type Appends, measureRatio, WARM } from './append-ratio.ts';
import type { Scenario } from './scenario.ts';
import { acceptTask, claimTasks, openStore } from './store-tasks.ts';
import { makeTempDir } from './temp-dir.ts';

const CHUNK = 'x'.repeat(200);

async function startTask(store: TaskStore): Promise<Fence> {
  await acceptTask(store);
  const [claimed] = await claimTasks(store, 1);
  if (!claimed) throw new Error('the accepted task was not claimed');
  return claimed.fence;
}

/** `count` appends to one artifact, one commit each. */
async function appendTo(store: TaskStore, count: number): Promise<Appends> {
  const fence = await startTask(store);
  const cpu = process.cpuUsage();
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
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - started, cpuMs: (user + system) / 1_000 };
}

/** Appends at the store port, one commit each. */
export const append: Scenario = async (print, { rounds }) => {
  const folder = await makeTempDir();
  const store = await openStore(join(folder, 'bench.db'));
  try {
    await appendTo(store, WARM);
    return { ...(await measureRatio(print, rounds, (count) => appendTo(store, count))) };
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
};
