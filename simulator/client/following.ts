import { JIRA_LIMITS } from '../limits.ts';
import { pause } from '../pause.ts';
import { endsStream, type Task } from './a2a.ts';
import type { Calls } from './calls.ts';
import { isHopeless, type Miss, nobodyThere } from './polling.ts';
import { readStream, type StreamOptions, type StreamResult } from './streams.ts';

export interface FollowOptions extends StreamOptions {
  /** A stream is over and the task is not, or a new one could not be had: it is asked for again. */
  onGap?(gap: Miss): void;
}

export interface FollowResult {
  /** The first stream and every SubscribeToTask after it. */
  readonly streams: readonly StreamResult[];
  /** As the last stream shows it. */
  readonly task?: Task;
  readonly faults: readonly string[];
  readonly outcome: 'settled' | 'refused' | 'limit';
}

const ENDS: Readonly<Record<StreamResult['end'], string>> = {
  agent: 'the agent ended the stream',
  cut: 'the stream was cut',
  limit: 'the stream reached its limit',
  lost: 'the connection was lost',
};

/**
 * A stream with what Jira does when it ends early: SubscribeToTask, again and again, until the task is over or waits
 * for the person. `cutAfterFrames` applies to the first stream only.
 */
export async function followStream(
  calls: Calls,
  call: { readonly method: string; readonly params: unknown },
  options: FollowOptions = {},
): Promise<FollowResult> {
  const endAt = performance.now() + calls.timeScale.deadline(calls.interactionMs);
  const { cutAfterFrames, onGap, ...again } = options;
  const pauseMs = Math.max(100, calls.timeScale.wait(JIRA_LIMITS.pollMs));
  const gap = (seen: string, nextMs: number): void =>
    onGap?.({ seen, nextMs, leftMs: Math.max(0, endAt - performance.now()) });
  const streams = [await readStream(calls, call, { ...again, ...(cutAfterFrames ? { cutAfterFrames } : {}) })];
  let taskId = streams[0]?.task?.id;
  for (;;) {
    const last = streams.at(-1);
    const task = last?.task ?? streams.findLast((stream) => stream.task)?.task;
    taskId = task?.id ?? taskId;
    const faults = streams.flatMap((stream) => stream.faults);
    const seen = { streams, faults, ...(task ? { task } : {}) };
    if (last?.message || (last?.task && endsStream(last.task.status.state) && last.end === 'agent')) {
      return { ...seen, outcome: 'settled' };
    }
    const answered = last?.status === 200 || last?.status === 0;
    if (taskId === undefined || (answered ? last?.error : isHopeless(last?.status ?? 0)))
      return { ...seen, outcome: 'refused' };
    if (performance.now() > endAt) return { ...seen, outcome: 'limit' };
    options.signal?.throwIfAborted();
    gap(answered ? ENDS[last?.end ?? 'lost'] : `HTTP ${last?.status}`, answered ? 0 : pauseMs);
    if (!answered) await pause(pauseMs, options.signal);
    const next = await readStream(
      calls,
      { method: 'SubscribeToTask', params: { tenant: '', id: taskId } },
      again,
    ).catch(async (error: unknown) => {
      options.signal?.throwIfAborted();
      gap(nobodyThere(error), pauseMs);
      await pause(pauseMs, options.signal);
      return undefined;
    });
    if (next) streams.push(next);
  }
}
