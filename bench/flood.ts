import { rm } from 'node:fs/promises';
import { type Account, account } from './accounting.ts';
import { atMost } from './bars.ts';
import { drained, query } from './database.ts';
import { askNowAndThen, type Flood, flood, SENDERS, STREAMS, type Victims } from './flood-load.ts';
import { startForge } from './forge.ts';
import type { LoadResult } from './load/job.ts';
import { usageOf } from './process-usage.ts';
import type { Figures, Print, Scenario } from './scenario.ts';
import { percentile } from './statistics.ts';
import { agentSource, service } from './target.ts';
import { makeTempDir } from './temp-dir.ts';

/*
 * One tenant sends as fast as it can and reads streams beside it, while people of another one ask now and then. Counted are
 * the tasks that callers were told of: each has to have run once and ended once. A refusal that says OVERLOADED is a
 * legitimate answer and promises nothing.
 */

const ALONE_MS = 5_000;
const RSS_MAX_MB = 600;

function reportFlooders(
  print: Print,
  name: string,
  { requests, errors, refused, elapsedMs, firstError }: LoadResult,
): void {
  const accepted = requests - errors;
  const rate = ((accepted * 1_000) / elapsedMs).toFixed(0);
  print(`  ${name}: ${accepted} answered (${rate}/s), ${refused} refused as overloaded, ${errors - refused} failed`);
  if (firstError !== undefined) print(`  ! first failure: ${firstError}`);
}

function reportVictims(print: Print, when: string, { latenciesMs, errors, refused, firstError }: Victims): Figures {
  const [p50, p99] = [percentile(latenciesMs, 50), percentile(latenciesMs, 99)];
  print(`  another tenant's accept ${when}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  print(`    ${latenciesMs.length} answered, ${refused} refused as overloaded, ${errors - refused} failed`);
  if (firstError !== undefined) print(`  ! first failure: ${firstError}`);
  return { [`victim ${when}, accept p50 ms`]: p50, [`victim ${when}, accept p99 ms`]: p99 };
}

/** From the accept to the end of the task, of the other tenant's tasks. */
function reportDelay(print: Print, folder: string): Figures {
  const sql = `select t.updated_at - t.created_at as ms from task t join owner o on o.pk = t.owner where o.tenant like 'rovo:%'`;
  const delays = query<{ readonly ms: number }>(folder, sql).map(({ ms }) => ms);
  const p99 = percentile(delays, 99);
  print(`  another tenant's task, from its accept to its end: p50 ${percentile(delays, 50)} ms, p99 ${p99} ms`);
  return { 'victim, task p99 ms': p99 };
}

function reportAccount(print: Print, { tasks, lost, doubled, unrun, findings }: Account): void {
  print(`  ${tasks} tasks: ${lost} lost ${atMost(lost, 0)}, ${doubled} ran twice ${atMost(doubled, 0)}`);
  print(
    `  ${unrun} ended without a run ${atMost(unrun, 0)}, ${findings.length} findings of the verifier ${atMost(findings.length, 0)}`,
  );
  for (const finding of findings.slice(0, 10)) print(`  ! ${finding}`);
}

function toldOf({ senders, streams, victims }: Flood): readonly string[] {
  return [...(senders.taskIds ?? []), ...(streams.taskIds ?? []), ...victims.taskIds];
}

export const floodScenario: Scenario = async (print, { floodSeconds }) => {
  const folder = await makeTempDir();
  const forge = await startForge();
  try {
    const running = await service('ours', { ...forge.env, AGENT: agentSource('run-log') }).start(folder);
    const alone = await askNowAndThen(running, forge, ALONE_MS);
    const flooded = await flood(running, forge, floodSeconds * 1_000);
    const emptiedFrom = performance.now();
    await drained(folder);
    const emptiedMs = performance.now() - emptiedFrom;
    const usage = await usageOf(running.pid);
    await running.stop();
    print(
      `${SENDERS} senders and ${STREAMS} streams for ${floodSeconds} s, then ${(emptiedMs / 1_000).toFixed(1)} s until the backlog was empty`,
    );
    reportFlooders(print, 'senders', flooded.senders);
    reportFlooders(print, 'streams', flooded.streams);
    const figures = {
      ...reportVictims(print, 'alone', alone),
      ...reportVictims(print, 'under the flood', flooded.victims),
      ...reportDelay(print, folder),
    };
    reportAccount(print, await account(folder, [...alone.taskIds, ...toldOf(flooded)]));
    if (!usage) return figures;
    const peakMb = usage.peakRssBytes / 1e6;
    print(`  RSS at most ${peakMb.toFixed(0)} MB ${atMost(peakMb, RSS_MAX_MB, ' MB')}`);
    return { ...figures, 'peak RSS MB': peakMb };
  } finally {
    await forge.close();
    await rm(folder, { recursive: true, force: true });
  }
};
