import type { ChunkScript } from './chunk-agent.ts';
import { dataLines } from './data-lines.ts';
import { query, until } from './database.ts';
import { ANONYMOUS, call, post, rpc, sendBody } from './operations.ts';
import { usageOf } from './process-usage.ts';
import type { Scenario } from './scenario.ts';
import { median } from './statistics.ts';
import { agentSource, type Running, service } from './target.ts';

/* What a late reader waits for: GetTask, and the first frame of SubscribeToTask, on a task that has written a lot. */

const CHARS = 64;
const SMALL = 100;
const LARGE = 10_000;
const READS = 20;

async function workingTask(running: Running, count: number): Promise<string> {
  const script = JSON.stringify({ count, chars: CHARS, hold: true } satisfies ChunkScript);
  const body = sendBody('SendMessage', { text: script, returnImmediately: true }).replace('{n}', `of-${count}`);
  const { task } = (await call(running, ANONYMOUS, body)) as { readonly task: { readonly id: string } };
  // Accepted and working are events as well.
  await until('every chunk is committed', () => {
    const [row] = query<{ readonly sequence: number }>(
      running.folder,
      'select sequence from task where id = ?',
      task.id,
    );
    return (row?.sequence ?? 0) >= count + 2;
  });
  return task.id;
}

async function readTask(running: Running, id: string): Promise<{ readonly ms: number; readonly bytes: number }> {
  const began = performance.now();
  const text = await (await post(running, ANONYMOUS, rpc('GetTask', { id }))).text();
  return { ms: performance.now() - began, bytes: Buffer.byteLength(text) };
}

/** To the first frame, and to the last one of the snapshot: the one that carries its number. */
async function subscribe(
  running: Running,
  id: string,
): Promise<{ readonly firstMs: number; readonly wholeMs: number }> {
  const began = performance.now();
  let firstMs: number | undefined;
  for await (const { id: sequence } of dataLines(await post(running, ANONYMOUS, rpc('SubscribeToTask', { id })))) {
    firstMs ??= performance.now() - began;
    if (sequence !== undefined) break;
  }
  return { firstMs: firstMs ?? Number.NaN, wholeMs: performance.now() - began };
}

async function repeated<T>(read: () => Promise<T>): Promise<readonly T[]> {
  await read();
  const results: T[] = [];
  for (let index = 0; index < READS; index += 1) results.push(await read());
  return results;
}

export const snapshot: Scenario = async (print) => {
  const running = await service('ours', { AGENT: agentSource('chunk') }).start();
  const figures: Record<string, number> = {};
  try {
    for (const count of [SMALL, LARGE]) {
      const id = await workingTask(running, count);
      const before = await usageOf(running.pid);
      const reads = await repeated(() => readTask(running, id));
      const after = await usageOf(running.pid);
      const subscriptions = await repeated(() => subscribe(running, id));
      const getMs = median(reads.map(({ ms }) => ms));
      const firstMs = median(subscriptions.map((each) => each.firstMs));
      const wholeMs = median(subscriptions.map((each) => each.wholeMs));
      const cpuMs = before && after ? (after.cpuMs - before.cpuMs) / (READS + 1) : undefined;
      const kilobytes = (reads[0]?.bytes ?? 0) / 1_000;
      print(
        `${count} events: GetTask ${getMs.toFixed(1)} ms for ${kilobytes.toFixed(0)} kB${cpuMs === undefined ? '' : `, CPU ${cpuMs.toFixed(1)} ms`}`,
      );
      print(`  SubscribeToTask: first frame ${firstMs.toFixed(1)} ms, whole snapshot ${wholeMs.toFixed(1)} ms`);
      Object.assign(figures, {
        [`get ${count} ms`]: getMs,
        [`first frame ${count} ms`]: firstMs,
        [`whole ${count} ms`]: wholeMs,
      });
    }
    return figures;
  } finally {
    await running.kill();
  }
};
