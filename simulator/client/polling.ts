import { JIRA_LIMITS, MIN_SCALED_POLL_MS } from '../limits.ts';
import { pause } from '../pause.ts';
import { isPolled, type Message, type RpcError, type Task, type TaskState } from './a2a.ts';
import type { CallOptions, Calls, UserToken } from './calls.ts';

/** A question that got no answer to work with: Jira asks again. */
export interface Miss {
  /** `HTTP 503`, `no answer`, `nobody is there (ECONNREFUSED)`. */
  readonly seen: string;
  readonly nextMs: number;
  /** Until it gives up. */
  readonly leftMs: number;
}

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
  onMiss?(miss: Miss): void;
}

export interface PollResult {
  /** The last one seen. */
  readonly task?: Task;
  /** Came instead of a task: the whole answer. */
  readonly message?: Message;
  readonly states: readonly TaskState[];
  readonly polls: number;
  /** Polls that found nobody listening, or an HTTP error. Jira asks again. */
  readonly missed: number;
  readonly error?: RpcError;
  /** HTTP status of the answer that refused. */
  readonly status?: number;
  readonly faults: readonly string[];
  readonly outcome: 'settled' | 'refused' | 'limit';
}

/** Asking again changes nothing: who is not known, or knocks at the wrong door, stays so. */
export const isHopeless = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429;

/** The code of a connection that failed, of whatever a call threw. */
export function connectionFault(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return /^E(?!RR_)[A-Z_]+$/.test(code) ? code : undefined;
}

export const nobodyThere = (error: unknown): string => `nobody is there (${connectionFault(error) ?? String(error)})`;

/** GetTask again and again while the task is submitted, working or auth-required. Every poll brings tokens anew. */
export async function pollTask(calls: Calls, taskId: string, options: PollOptions = {}): Promise<PollResult> {
  const { userToken, until, onTask, onMiss, intervalMs, limitMs, ...call } = options;
  const waitMs = Math.max(MIN_SCALED_POLL_MS, calls.timeScale.wait(intervalMs ?? JIRA_LIMITS.pollMs));
  const endAt = performance.now() + calls.timeScale.deadline(limitMs ?? calls.interactionMs);
  const done = until ?? ((task: Task) => !isPolled(task.status.state));
  const states: TaskState[] = [];
  const faults: string[] = [];
  let last: Task | undefined;
  let missed = 0;
  for (let polls = 1; ; polls += 1) {
    const token = typeof userToken === 'function' ? userToken(polls - 1) : userToken;
    let fault = '';
    const answer = await calls
      .rpc('GetTask', { tenant: '', id: taskId }, { ...call, ...(token === undefined ? {} : { userToken: token }) })
      .catch((error: unknown) => {
        if (options.signal?.aborted) throw error;
        fault = nobodyThere(error);
        return undefined;
      });
    const seen = { states, polls, faults };
    if (answer?.task) {
      last = answer.task;
      faults.push(...answer.faults);
      if (states.at(-1) !== last.status.state) states.push(last.status.state);
      onTask?.(last);
      if (done(last)) return { ...seen, task: last, missed, outcome: 'settled' };
    } else if (answer && (answer.status === 200 ? answer.error : isHopeless(answer.status))) {
      const { status, error } = answer;
      return {
        ...seen,
        ...(last ? { task: last } : {}),
        missed,
        status,
        ...(error ? { error } : {}),
        outcome: 'refused',
      };
    } else {
      missed += 1;
      const noAnswer = answer?.timedOut ? 'no answer' : `HTTP ${answer?.status}`;
      onMiss?.({ seen: answer ? noAnswer : fault, nextMs: waitMs, leftMs: Math.max(0, endAt - performance.now()) });
    }
    if (performance.now() + waitMs > endAt)
      return { ...seen, ...(last ? { task: last } : {}), missed, outcome: 'limit' };
    await pause(waitMs, options.signal);
    options.signal?.throwIfAborted();
  }
}
