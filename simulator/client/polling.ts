import { JIRA_LIMITS, MIN_SCALED_POLL_MS } from '../limits.ts';
import { pause } from '../pause.ts';
import { isPolled, type RpcError, type Task, type TaskState } from './a2a.ts';
import type { CallOptions, Calls, UserToken } from './calls.ts';

export interface PollOptions extends Omit<CallOptions, 'userToken'> {
  /** One choice for all polls, or one for each (the first is 0). */
  readonly userToken?: UserToken | ((poll: number) => UserToken);
  /** In unscaled milliseconds. */
  readonly intervalMs?: number;
  /** In unscaled milliseconds: 30 min for what a chat started, 60 for a work item. */
  readonly limitMs?: number;
  /** Asked after each answer; by default polling ends where Jira's does. */
  until?(task: Task): boolean;
  onTask?(task: Task): void;
}

export interface PollResult {
  /** The last one seen. */
  readonly task?: Task;
  readonly states: readonly TaskState[];
  readonly polls: number;
  /** Polls that found nobody listening, or an HTTP error. Jira asks again. */
  readonly missed: number;
  readonly error?: RpcError;
  readonly faults: readonly string[];
  readonly outcome: 'settled' | 'refused' | 'limit';
}

/** GetTask again and again while the task is submitted, working or auth-required. Every poll brings tokens anew. */
export async function pollTask(calls: Calls, taskId: string, options: PollOptions = {}): Promise<PollResult> {
  const { userToken, until, onTask, intervalMs, limitMs, ...call } = options;
  const waitMs = Math.max(MIN_SCALED_POLL_MS, calls.timeScale.wait(intervalMs ?? JIRA_LIMITS.pollMs));
  const endAt = performance.now() + calls.timeScale.deadline(limitMs ?? calls.interactionMs);
  const done = until ?? ((task: Task) => !isPolled(task.status.state));
  const states: TaskState[] = [];
  const faults: string[] = [];
  let last: Task | undefined;
  let missed = 0;
  for (let polls = 1; ; polls += 1) {
    const token = typeof userToken === 'function' ? userToken(polls - 1) : userToken;
    const answer = await calls
      .rpc('GetTask', { tenant: '', id: taskId }, { ...call, ...(token === undefined ? {} : { userToken: token }) })
      .catch((error: unknown) => {
        if (options.signal?.aborted) throw error;
        return undefined;
      });
    const seen = { states, polls, faults };
    if (answer?.task) {
      last = answer.task;
      faults.push(...answer.faults);
      if (states.at(-1) !== last.status.state) states.push(last.status.state);
      onTask?.(last);
      if (done(last)) return { ...seen, task: last, missed, outcome: 'settled' };
    } else if (answer?.error) {
      return { ...seen, ...(last ? { task: last } : {}), missed, error: answer.error, outcome: 'refused' };
    } else missed += 1;
    if (performance.now() + waitMs > endAt)
      return { ...seen, ...(last ? { task: last } : {}), missed, outcome: 'limit' };
    await pause(waitMs, options.signal);
    options.signal?.throwIfAborted();
  }
}
