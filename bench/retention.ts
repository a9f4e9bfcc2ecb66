import { copyFile, rm } from 'node:fs/promises';
import { query } from './database.ts';
import { type Generator, startGenerator } from './load/processes.ts';
import { jobFor } from './measure.ts';
import { ANONYMOUS, BODIES } from './operations.ts';
import type { Scenario } from './scenario.ts';
import { median } from './statistics.ts';
import { fillDatabase } from './store-tasks.ts';
import { databaseIn, service } from './target.ts';
import { makeTempDir } from './temp-dir.ts';

/*
 * What callers notice of the sweep that erases old tasks: the same load on the same database, once with tasks that are
 * due and once with a retention that spares them. The sweep begins with the process.
 */

const FINISHED = 40_000;
const AGE_MS = 7_200_000;
const DUE_MS = AGE_MS / 2;
const CONNECTIONS = 16;
const WARM_MS = 1_000;

interface Run {
  readonly p99: number;
  readonly perSecond: number;
  /** Tasks that were erased while the load was measured. */
  readonly erased: number;
}

function finishedBefore(folder: string, at: number): number {
  const count = 'select count(*) as tasks from task where terminal = 1 and updated_at < ?';
  return query<{ readonly tasks: number }>(folder, count, at)[0]?.tasks ?? 0;
}

async function loaded(
  generator: Generator,
  filled: string,
  { retentionMs, seconds }: { readonly retentionMs: number; readonly seconds: number },
): Promise<Run> {
  const folder = await makeTempDir();
  try {
    await copyFile(filled, databaseIn(folder));
    const old = Date.now() - DUE_MS;
    const running = await service('ours', { RETENTION_MS: String(retentionMs) }).start(folder);
    const bodies = await BODIES.send(running, ANONYMOUS);
    const job = { ...jobFor(running, ANONYMOUS), bodies, connections: CONNECTIONS };
    await generator.run({ ...job, durationMs: WARM_MS });
    const before = finishedBefore(folder, old);
    const { requests, errors, elapsedMs, p99 } = await generator.run({ ...job, durationMs: seconds * 1_000 });
    const erased = before - finishedBefore(folder, old);
    await running.stop();
    return { p99, erased, perSecond: ((requests - errors) * 1_000) / elapsedMs };
  } finally {
    await rm(folder, { recursive: true });
  }
}

export const retention: Scenario = async (print, { rounds, seconds }) => {
  const folder = await makeTempDir();
  const filled = databaseIn(folder);
  const generator = startGenerator();
  const runs = { without: [] as Run[], with: [] as Run[] };
  try {
    await fillDatabase(filled, { finished: FINISHED, ageMs: AGE_MS });
    for (let round = 0; round < rounds; round += 1) {
      runs.without.push(await loaded(generator, filled, { retentionMs: AGE_MS * 100, seconds }));
      runs.with.push(await loaded(generator, filled, { retentionMs: DUE_MS, seconds }));
    }
  } finally {
    generator.close();
    await rm(folder, { recursive: true });
  }
  const figures: Record<string, number> = {};
  for (const [name, list] of Object.entries(runs)) {
    const middle = (figure: keyof Run) => median(list.map((run) => run[figure]));
    print(
      `send at ${CONNECTIONS} ${name.padEnd(7)} a sweep: ${middle('perSecond').toFixed(0)}/s, p99 ${middle('p99').toFixed(1)} ms, ` +
        `${middle('erased').toFixed(0)} tasks erased meanwhile`,
    );
    figures[`${name}, p99 ms`] = middle('p99');
    figures[`${name}, per second`] = middle('perSecond');
  }
  return figures;
};
