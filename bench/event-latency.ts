import { atMost } from './bars.ts';
import type { ChunkScript, ChunkTimes } from './chunk-agent.ts';
import { dataLines } from './data-lines.ts';
import { ANONYMOUS, post, sendBody } from './operations.ts';
import type { Scenario } from './scenario.ts';
import { percentile } from './statistics.ts';
import { agentSource, type Running, service } from './target.ts';

/*
 * How long a committed event takes to whoever reads the stream, with several streams at once whose agents write
 * steadily. The agent says when it yielded a chunk and, with the next one, when that was committed.
 */

const STREAMS = 16;
const EVERY_MS = 25;
/** Of each stream, while the compiler is still at work. */
const WARM_EVENTS = 40;
const P99_MAX_MS = 20;

interface Latencies {
  readonly fromCommit: number[];
  readonly fromYield: number[];
}

interface Frame {
  readonly result?: {
    readonly artifactUpdate?: { readonly artifact: { readonly parts: readonly { readonly metadata: ChunkTimes }[] } };
  };
}

async function read(running: Running, count: number, stream: number): Promise<Latencies> {
  const script = { count, chars: 64, everyMs: EVERY_MS } satisfies ChunkScript;
  const body = sendBody('SendStreamingMessage', { text: JSON.stringify(script) }).replace('{n}', String(stream));
  const latencies: Latencies = { fromCommit: [], fromYield: [] };
  let previousArrivedAt = 0;
  for await (const { json, arrivedAt } of dataLines(await post(running, ANONYMOUS, body))) {
    const times = (JSON.parse(json) as Frame).result?.artifactUpdate?.artifact.parts[0]?.metadata;
    if (!times) continue;
    if (times.index > WARM_EVENTS) {
      latencies.fromYield.push(arrivedAt - times.yieldedAt);
      latencies.fromCommit.push(previousArrivedAt - times.previousCommittedAt);
    }
    previousArrivedAt = arrivedAt;
  }
  return latencies;
}

export const eventLatency: Scenario = async (print, { rounds, seconds }) => {
  const count = WARM_EVENTS + Math.ceil((rounds * seconds * 1_000) / EVERY_MS);
  const running = await service('ours', { AGENT: agentSource('chunk') }).start();
  try {
    const all = await Promise.all(Array.from({ length: STREAMS }, (_, stream) => read(running, count, stream)));
    const figures: Record<string, number> = {};
    for (const [key, name] of [
      ['fromCommit', 'from the commit'],
      ['fromYield', "from the agent's yield, the commit included"],
    ] as const) {
      const values = all.flatMap((latencies) => latencies[key]);
      const [p50, p99] = [percentile(values, 50), percentile(values, 99)];
      const bar = key === 'fromCommit' ? ` ${atMost(p99, P99_MAX_MS, ' ms at p99')}` : '';
      print(`${name}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms of ${values.length} events${bar}`);
      Object.assign(figures, { [`${key} p50 ms`]: p50, [`${key} p99 ms`]: p99 });
    }
    print(`${STREAMS} streams at once, an event every ${EVERY_MS} ms on each`);
    return figures;
  } finally {
    await running.stop();
  }
};
