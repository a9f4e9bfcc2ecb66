import { JIRA_LIMITS } from '../limits.ts';
import { pause } from '../pause.ts';
import { endsStream, type Task } from './a2a.ts';
import type { Calls } from './calls.ts';
import { readStream, type StreamOptions, type StreamResult } from './streams.ts';

export interface FollowResult {
  /** The first stream and every SubscribeToTask after it. */
  readonly streams: readonly StreamResult[];
  /** As the last stream shows it. */
  readonly task?: Task;
  readonly faults: readonly string[];
  readonly outcome: 'settled' | 'refused' | 'limit';
}

/**
 * A stream with what Jira does when it ends early: SubscribeToTask, again and again, until the task is over or waits
 * for the person. `cutAfterFrames` applies to the first stream only.
 */
export async function followStream(
  calls: Calls,
  call: { readonly method: string; readonly params: unknown },
  options: StreamOptions = {},
): Promise<FollowResult> {
  const endAt = performance.now() + calls.timeScale.deadline(calls.interactionMs);
  const { cutAfterFrames: _, ...again } = options;
  const streams = [await readStream(calls, call, options)];
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
    if (last?.error || taskId === undefined) return { ...seen, outcome: 'refused' };
    if (performance.now() > endAt) return { ...seen, outcome: 'limit' };
    options.signal?.throwIfAborted();
    const next = await readStream(
      calls,
      { method: 'SubscribeToTask', params: { tenant: '', id: taskId } },
      again,
    ).catch(async () => {
      options.signal?.throwIfAborted();
      await pause(Math.max(100, calls.timeScale.wait(JIRA_LIMITS.pollMs)), options.signal);
      return undefined;
    });
    if (next) streams.push(next);
  }
}
