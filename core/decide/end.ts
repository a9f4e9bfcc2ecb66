import { DomainError } from '../errors.ts';
import type { Change, TaskView } from '../ports/task-store.ts';
import { isTerminal } from '../task.ts';
import { closeOthers, nextStatus, type Saying, type StatusOf, statusEvent } from './status.ts';

/** CancelTask: undefined = it is canceled already. The runner is fenced off, a queued task is never started. */
export function decideCancel(view: TaskView, saying?: Saying): Change | undefined {
  const { record, now, open } = view;
  if (record.status.state === 'TASK_STATE_CANCELED') return undefined;
  if (isTerminal(record.status.state)) {
    throw new DomainError('TASK_NOT_CANCELABLE', 'The task has already ended');
  }
  const status = nextStatus(record, now, 'TASK_STATE_CANCELED', saying);
  return {
    status,
    deadlineAt: null,
    parked: null,
    events: [statusEvent(record, status)],
    executions: closeOthers(open),
  };
}

/** Fails a task whose deadline has passed; undefined = it has not, or somebody was faster. */
export function decideExpire(view: TaskView, messageId: string): Change | undefined {
  const { record, now, open } = view;
  if (isTerminal(record.status.state) || record.deadlineAt === undefined || record.deadlineAt > now) return undefined;
  const text =
    record.status.state === 'TASK_STATE_INPUT_REQUIRED'
      ? 'Nobody answered the question in time, so this was closed. Start again whenever you like.'
      : 'This took longer than it may and was stopped. Start again, perhaps with a smaller request.';
  const status = nextStatus(record, now, 'TASK_STATE_FAILED', { messageId, parts: [{ text }] });
  return {
    status,
    deadlineAt: null,
    parked: null,
    events: [statusEvent(record, status)],
    executions: open.map((execution) => ({ close: execution.ordinal, outcome: 'closed', error: 'deadline passed' })),
  };
}

/** A turn begins: WORKING, unless it says so already or its time is up. */
export function decideBegin(view: TaskView, messageId: string): Change | undefined {
  const expired = decideExpire(view, messageId);
  if (expired) return expired;
  const { record, now } = view;
  if (record.status.state === 'TASK_STATE_WORKING') return undefined;
  return { parked: null, ...startWorking(record, now) };
}

export function startWorking(record: StatusOf, now: number) {
  const status = nextStatus(record, now, 'TASK_STATE_WORKING');
  return { status, events: [statusEvent(record, status)] };
}

/** A fresh token came: the turn that was parked for one runs again. Undefined = it does not wait, or not for this one. */
export function decideResume(view: TaskView, tokenHash: string): Change | undefined {
  const { record, now } = view;
  if (record.status.state !== 'TASK_STATE_AUTH_REQUIRED' || !record.parked) return undefined;
  if (record.parked.tokenHash === tokenHash) return undefined;
  const status = nextStatus(record, now, 'TASK_STATE_WORKING');
  return {
    status,
    parked: null,
    events: [statusEvent(record, status)],
    executions: [{ requeue: record.parked.ordinal }],
  };
}
