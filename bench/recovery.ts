import { rm } from 'node:fs/promises';
import { atMost } from './bars.ts';
import { drained, query } from './database.ts';
import { startGenerator } from './load/processes.ts';
import { jobFor } from './measure.ts';
import { ANONYMOUS, BODIES } from './operations.ts';
import type { Print, Scenario } from './scenario.ts';
import { median } from './statistics.ts';
import { fillDatabase } from './store-tasks.ts';
import { API_ONLY, databaseIn, OURS, service } from './target.ts';
import { makeTempDir } from './temp-dir.ts';

/*
 * A process that accepted a lot is killed, and the next one finds what it left: how soon does it begin, and how long does
 * it take? The same on a database with many finished tasks, because a scan that grows with them would show here.
 */

const QUEUED = 10_000;
const FINISHED = 20_000;
const FIRST_CLAIM_MAX_MS = 1_000;
const CONNECTIONS = 16;

interface Recovery {
  readonly readyMs: number;
  /** After it was ready; below zero when it began before it said so. */
  readonly firstClaimMs: number;
  readonly drainedMs: number;
}

async function recover(finished: number): Promise<Recovery> {
  const folder = await makeTempDir();
  const generator = startGenerator();
  try {
    await fillDatabase(databaseIn(folder), { finished, queued: QUEUED });
    const before = await service('ours, ROLE=api', API_ONLY).start(folder);
    const bodies = await BODIES.accept(before, ANONYMOUS);
    const load = generator.run({ ...jobFor(before, ANONYMOUS), bodies, connections: CONNECTIONS, durationMs: 1_000 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await before.kill();
    await load;
    const running = await OURS.start(folder);
    await drained(folder);
    const [claims] = query<{ readonly first: number; readonly last: number }>(
      folder,
      'select min(claimed_at) as first, max(ended_at) as last from turn_attempt join execution using (task, ordinal) where claimed_at >= ?',
      running.readyAt - running.startMs,
    );
    await running.stop();
    const { first = Number.NaN, last = Number.NaN } = claims ?? {};
    return { readyMs: running.startMs, firstClaimMs: first - running.readyAt, drainedMs: last - running.readyAt };
  } finally {
    generator.close();
    await rm(folder, { recursive: true });
  }
}

function report(print: Print, finished: number, runs: readonly Recovery[]): Record<string, number> {
  const middle = (figure: keyof Recovery) => median(runs.map((run) => run[figure]));
  const firstClaimMs = middle('firstClaimMs');
  print(`over ${QUEUED} queued turns left by SIGKILL, ${finished} finished tasks beside them`);
  print(
    `  ready after ${middle('readyMs').toFixed(0)} ms, first claim ${firstClaimMs.toFixed(0)} ms later ${atMost(firstClaimMs, FIRST_CLAIM_MAX_MS, ' ms')}, ` +
      `empty ${(middle('drainedMs') / 1_000).toFixed(1)} s after ready`,
  );
  return {
    [`ready ms, ${finished} finished`]: middle('readyMs'),
    [`first claim ms, ${finished} finished`]: firstClaimMs,
    [`drained ms, ${finished} finished`]: middle('drainedMs'),
  };
}

export const recovery: Scenario = async (print, { rounds }) => {
  const runs = new Map<number, Recovery[]>([0, FINISHED].map((finished) => [finished, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [finished, list] of runs) list.push(await recover(finished));
  }
  return Object.assign({}, ...[...runs].map(([finished, list]) => report(print, finished, list)));
};
