import { rm } from 'node:fs/promises';
import { atMost } from './bars.ts';
import type { Scenario } from './scenario.ts';
import { median } from './statistics.ts';
import { fillDatabase } from './store-tasks.ts';
import { databaseIn, OURS } from './target.ts';
import { makeTempDir } from './temp-dir.ts';

/* From the start of the process until it listens. It must not depend on how much it has done in its life. */

const FINISHED = 20_000;
const READY_MAX_MS = 1_000;

export const startToReady: Scenario = async (print, { rounds }) => {
  const folder = await makeTempDir();
  await fillDatabase(databaseIn(folder), { finished: FINISHED });
  const empty: number[] = [];
  const full: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const [times, given] of [
        [empty, undefined],
        [full, folder],
      ] as const) {
        const running = await OURS.start(given);
        times.push(running.startMs);
        await running.stop();
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  const [emptyMs, fullMs] = [median(empty), median(full)];
  print(`without a database ${emptyMs.toFixed(0)} ms ${atMost(emptyMs, READY_MAX_MS, ' ms')}`);
  print(`with ${FINISHED} finished tasks ${fullMs.toFixed(0)} ms ${atMost(fullMs, READY_MAX_MS, ' ms')}`);
  return { emptyMs, fullMs };
};
