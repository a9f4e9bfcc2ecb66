import { decideCancel } from '../decide/end.ts';
import { chooseDead, decideRetry } from '../decide/retry.ts';
import { isDomainError } from '../errors.ts';
import { OperatorRefusal } from '../operator-refusal.ts';
import type { Digest, Ids } from '../ports/clock.ts';
import type { Act, OperatorStore } from '../ports/operator-store.ts';
import type { TaskRecord } from '../ports/task-store.ts';

/*
 * The acts of an operator that rules or ids belong to. Whatever lets operators act calls these; pausing and erasing
 * tenants are the store's own.
 */

export interface OperateDeps {
  readonly operator: OperatorStore;
  readonly ids: Ids;
  readonly digest: Digest;
}

/** What the caller reads. Why, is in the audit. */
const CANCELED = 'An operator of this agent canceled this.';

export interface RetryRequest {
  readonly taskId: string;
  /** Absent: the task's only dead turn. */
  readonly ordinal?: number;
  /** Also when it was retried before. */
  readonly again: boolean;
  /** How long the new task may take. */
  readonly deadlineMs: number;
}

/** Answers the new task. The old one stays FAILED and its execution dead. */
export function retryExecution(deps: OperateDeps, act: Act, request: RetryRequest): Promise<TaskRecord> {
  const { taskId, ...command } = request;
  const newTaskId = deps.ids.next();
  return deps.operator.retry(act, taskId, (view) => decideRetry(view, { ...command, newTaskId }));
}

/** Somebody has looked at the dead turn and nothing is to be done. */
export function closeExecution(
  deps: OperateDeps,
  act: Act,
  turn: { readonly taskId: string; readonly ordinal?: number },
): Promise<{ readonly ordinal: number }> {
  return deps.operator.close(act, turn.taskId, (turns) => chooseDead(turns, turn.ordinal));
}

/** As CancelTask does it. `changed` is false when it was canceled before. */
export async function cancelAsOperator(
  deps: OperateDeps,
  act: Act,
  taskId: string,
): Promise<{ readonly record: TaskRecord; readonly changed: boolean }> {
  const saying = { messageId: deps.ids.next(), parts: [{ text: CANCELED }] };
  return deps.operator.cancel(act, taskId, (view) => {
    try {
      return decideCancel(view, saying);
    } catch (error) {
      if (!isDomainError(error, 'TASK_NOT_CANCELABLE')) throw error;
      const { state, timestamp } = view.record.status;
      throw new OperatorRefusal('TASK_ENDED', `the task ended at ${timestamp} as ${state}`);
    }
  });
}

/** Erases a person whose account is closed. Answers how many tasks went. */
export function erasePrincipal(
  deps: OperateDeps,
  act: Act,
  subject: { readonly principal: string; readonly tenant?: string },
): Promise<number> {
  // As the log has it, so that both can be told to be of one person.
  const pseudonym = deps.digest(subject.principal).slice(0, 12);
  return deps.operator.erasePrincipal(act, { ...subject, pseudonym });
}
