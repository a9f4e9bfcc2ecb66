import { rm } from 'node:fs/promises';
import { atMost } from './bars.ts';
import { usageOf } from './process-usage.ts';
import type { Figures, Print, Scenario } from './scenario.ts';
import { median } from './statistics.ts';
import { fillDatabase } from './store-tasks.ts';
import { databaseIn, OURS } from './target.ts';
import { makeTempDir } from './temp-dir.ts';

/* From the start of the process until it listens. It must not depend on how much it has done in its life. */

const FINISHED = 20_000;
const READY_MAX_MS = 1_000;

interface Start {
  readonly ms: number;
  /** Linux only. */
  readonly cpuMs: number | undefined;
}

function report(print: Print, name: string, starts: readonly Start[]): Figures {
  const ms = median(starts.map((start) => start.ms));
  const cpuMs = median(starts.map((start) => start.cpuMs ?? Number.NaN));
  const cpu = Number.isNaN(cpuMs) ? '' : `, CPU ${cpuMs.toFixed(0)} ms`;
  print(`${name}: ${ms.toFixed(0)} ms${cpu} ${atMost(ms, READY_MAX_MS, ' ms')}`);
  return { [`${name}, ms`]: ms, ...(cpu === '' ? {} : { [`${name}, CPU ms`]: cpuMs }) };
}

export const startToReady: Scenario = async (print, { rounds }) => {
  const folder = await makeTempDir();
  await fillDatabase(databaseIn(folder), { finished: FINISHED });
  const empty: Start[] = [];
  const full: Start[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const [starts, given] of [
        [empty, undefined],
        [full, folder],
      ] as const) {
        const running = await OURS.start(given);
        starts.push({ ms: running.startMs, cpuMs: (await usageOf(running.pid))?.cpuMs });
        await running.stop();
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  return {
    ...report(print, 'without a database', empty),
    ...report(print, `with ${FINISHED} finished tasks`, full),
  };
};
