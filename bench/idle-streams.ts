import { setTimeout as pause } from 'node:timers/promises';
import { atMost } from './bars.ts';
import { type Generator, startGenerator, startStreamHolder } from './load/processes.ts';
import { jobFor } from './measure.ts';
import { ANONYMOUS, BODIES, rpc } from './operations.ts';
import { openFilesLimit, usageOf } from './process-usage.ts';
import type { Print, Scenario } from './scenario.ts';
import { API_ONLY, PEERS, type Running, service, type Target } from './target.ts';

/*
 * Streams on which nothing happens, each of a task of its own that waits for a runner. What they cost is memory, a comment
 * every few seconds and a look into the store every second. Beside them what node:http alone takes for the same sockets.
 *
 * Memory is the growth of the resident set from a process that has already accepted as many tasks, so neither the code
 * nor what accepting leaves behind counts, while the garbage of opening and holding the streams does.
 */

const TARGETS = [service('ours, ROLE=api', API_ONLY), PEERS.bareStreams];
const COUNTS = [1_000, 5_000];
const JUDGED_AT = 5_000;
const BYTES_MAX = 20_000;
/** Several heartbeats, so that the processor time is an average of them. */
const WATCH_MS = 12_000;
const SETTLE_MS = 3_000;
const ACCEPT_MS = 1_000;
const SPARE_FILES = 200;

async function acceptTasks(generator: Generator, running: Running, count: number): Promise<readonly string[]> {
  const bodies = await BODIES.accept(running, ANONYMOUS);
  const job = { ...jobFor(running, ANONYMOUS), bodies, connections: 64, durationMs: ACCEPT_MS, detailed: true };
  const tasks: string[] = [];
  while (tasks.length < count) tasks.push(...((await generator.run(job)).taskIds ?? []));
  return tasks.slice(0, count);
}

async function idle(print: Print, target: Target, streams: number): Promise<Record<string, number>> {
  const running = await target.start();
  const generator = startGenerator();
  const holder = startStreamHolder();
  try {
    const door = jobFor(running, ANONYMOUS);
    // Accepting is over before memory is looked at: what it leaves behind must not count as a cost of the streams.
    const tasks = await acceptTasks(generator, running, streams);
    await pause(SETTLE_MS);
    const before = await usageOf(running.pid);
    await holder.open({ ...door, bodies: tasks.map((id) => rpc('SubscribeToTask', { id })), streams });
    await pause(SETTLE_MS);
    const opened = await usageOf(running.pid);
    const seen = await holder.report();
    await pause(WATCH_MS);
    const after = await usageOf(running.pid);
    const { comments, closed } = await holder.report();
    if (!before || !opened || !after) {
      print('memory and processor time are read from /proc, which is not there');
      return {};
    }
    const bytesEach = (after.rssBytes - before.rssBytes) / streams;
    const cpuMsPerSecond = ((after.cpuMs - opened.cpuMs) * 1_000) / WATCH_MS;
    const bar = running.isService && streams === JUDGED_AT ? ` ${atMost(bytesEach, BYTES_MAX, ' B')}` : '';
    print(
      `${target.name}, ${streams} streams: ${(bytesEach / 1_000).toFixed(1)} kB each${bar}, ` +
        `RSS ${(after.rssBytes / 1e6).toFixed(0)} MB of which ${(before.rssBytes / 1e6).toFixed(0)} MB before`,
    );
    print(
      `  CPU ${cpuMsPerSecond.toFixed(0)} ms a second, ${((cpuMsPerSecond * 1_000) / streams).toFixed(0)} µs a stream; ` +
        `${comments - seen.comments} comments in ${WATCH_MS / 1_000} s, ${closed} streams lost`,
    );
    const of = running.isService ? `${streams}` : `${target.name}, ${streams}`;
    return { [`${of}, bytes each`]: bytesEach, [`${of}, CPU ms a second`]: cpuMsPerSecond };
  } finally {
    holder.close();
    generator.close();
    await running.kill();
  }
}

export const idleStreams: Scenario = async (print) => {
  const files = (await openFilesLimit()) ?? Number.POSITIVE_INFINITY;
  const figures: Record<string, number> = {};
  for (const streams of COUNTS) {
    if (files < streams + SPARE_FILES) print(`${streams} streams: left out, ulimit -n is ${files}`);
    else for (const target of TARGETS) Object.assign(figures, await idle(print, target, streams));
  }
  return figures;
};
