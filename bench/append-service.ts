import { type Appends, measureRatio, WARM } from './append-ratio.ts';
import type { ChunkScript } from './chunk-agent.ts';
import { query, until } from './database.ts';
import { ANONYMOUS, call, post, sendBody } from './operations.ts';
import { usageOf } from './process-usage.ts';
import type { Scenario } from './scenario.ts';
import { agentSource, type Running, service } from './target.ts';

/*
 * Appends end to end: an agent yields chunks of which no two may share a commit. The agent measures, from its first chunk
 * to the commit of its last, so that a reader costs only what it takes away from the service.
 */

const CHARS = 200;

function scriptOf(count: number): string {
  return JSON.stringify({ count, chars: CHARS } satisfies ChunkScript);
}

/** Milliseconds that the agent needed. */
async function tookMs({ folder }: Running, messageId: string): Promise<number> {
  const find = 'select t.status from task t join request r on r.task = t.pk where r.message_id = ? and t.terminal = 1';
  let status: string | undefined;
  await until('the task has ended', () => {
    status = query<{ readonly status: string }>(folder, find, messageId)[0]?.status;
    return status !== undefined;
  });
  const { message } = JSON.parse(status ?? '{}') as {
    readonly message?: { readonly parts: readonly { readonly text: string }[] };
  };
  return Number(message?.parts[0]?.text);
}

let sent = 0;

async function appends(running: Running, count: number, reader: boolean): Promise<Appends> {
  sent += 1;
  const options = { text: scriptOf(count), returnImmediately: true };
  const body = sendBody(reader ? 'SendStreamingMessage' : 'SendMessage', options).replace('{n}', String(sent));
  const before = await usageOf(running.pid);
  if (!reader) await call(running, ANONYMOUS, body);
  else for await (const _ of (await post(running, ANONYMOUS, body)).body ?? []);
  const ms = await tookMs(running, `m-${sent}`);
  const after = await usageOf(running.pid);
  return { ms, ...(before && after ? { cpuMs: after.cpuMs - before.cpuMs } : {}) };
}

export const appendService: Scenario = async (print, { rounds }) => {
  const running = await service('ours', { AGENT: agentSource('chunk') }).start();
  const figures: Record<string, number> = {};
  try {
    await appends(running, WARM, true);
    for (const reader of [false, true]) {
      const name = reader ? 'with a reader' : 'without a reader';
      print(name);
      const measured = await measureRatio(print, rounds, (count) => appends(running, count, reader));
      for (const [key, value] of Object.entries(measured)) figures[`${name}, ${key}`] = value;
    }
    return figures;
  } finally {
    await running.stop();
  }
};
