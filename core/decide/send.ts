import { DomainError, invalidParams, overloaded, taskNotFound } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { Message } from '../message.ts';
import type { EdgeProfile } from '../ports/edge.ts';
import type { AcceptDecision, AcceptView, AnswerKind, Change, TaskRecord, TaskView } from '../ports/task-store.ts';
import { isInterrupted, isTerminal } from '../task.ts';
import { startWorking } from './end.ts';
import { nextStatus, statusEvent, timestampAfter } from './status.ts';

/*
 * Where a message goes. First the key: a repeat is the first call's task, whatever state rules say now; the same id with
 * other content is refused and reveals nothing. Only then, for a new key, whether there is a place in the queue, and the
 * rules of the named task and context.
 */

export interface SendCommand {
  readonly message: Message;
  readonly fingerprint: string;
  readonly policy: EdgeProfile['contextPolicy'];
  readonly answer: AnswerKind;
  readonly deadlineMs: number;
  /** Used when a task or a context must be made. */
  readonly newTaskId: string;
  readonly newContextId: string;
  readonly delegate?: string;
  readonly trace?: string;
  /** Turns that may wait, of one tenant and of all. Default LIMITS. */
  readonly queueMax?: QueueMax;
}

export interface QueueMax {
  readonly tenant: number;
  readonly everybody: number;
}

const QUEUE_MAX: QueueMax = { tenant: LIMITS.queueMaxPerTenant, everybody: LIMITS.queueMax };

/** The message as the history of a task holds it. Two fields that are new behind a spread would take twenty times as long. */
export function messageIn(task: Pick<TaskRecord, 'id' | 'contextId'>, message: Message): Message {
  return Object.assign({}, message, { contextId: task.contextId, taskId: task.id });
}

function create(view: AcceptView, command: SendCommand, contextId: string): AcceptDecision {
  const { newTaskId: id, message } = command;
  const status = { state: 'TASK_STATE_SUBMITTED', timestamp: timestampAfter(undefined, view.now) } as const;
  const { answer } = command;
  const exclusive = command.policy === 'single-active-task';
  const task = command.delegate ? { id, contextId, delegate: command.delegate } : { id, contextId };
  const change = {
    status,
    deadlineAt: view.now + command.deadlineMs,
    messages: [messageIn({ id, contextId }, message)],
    events: [{ task: { id, contextId, status } }],
    executions: [command.trace ? { open: 1, trace: command.trace } : { open: 1 }],
  };
  if (!view.free) return { kind: 'create', task, change, answer, exclusive };
  const begin = startWorking({ id, contextId, status }, view.now);
  return { kind: 'create', task, change, begin, answer, exclusive };
}

function follow(view: TaskView, command: SendCommand): Change {
  const { record, open, now } = view;
  if (open.length >= LIMITS.inboxMax) {
    throw overloaded('inbox', 'Too many messages wait for this task', LIMITS.queueRetryMs);
  }
  const { inbox, history } = view.volume ?? { inbox: 0, history: 0 };
  if (history >= LIMITS.historyBytes || record.messages >= LIMITS.historyMax) {
    throw new DomainError('UNSUPPORTED_OPERATION', 'The history of this task is full: go on in another task');
  }
  if (inbox >= LIMITS.inboxBytes) {
    throw overloaded('inbox', 'Too much text waits for this task', LIMITS.queueRetryMs);
  }
  const message = messageIn(record, command.message);
  const trace = command.trace ? { trace: command.trace } : {};
  if (!isInterrupted(record.status.state)) {
    const status = { ...record.status, timestamp: nextStatus(record, now, record.status.state).timestamp };
    return {
      status,
      messages: [message],
      events: [statusEvent(record, status)],
      executions: [{ open: record.messages + 1, ...trace }],
    };
  }
  // The question belongs to the conversation; a request for a token does not.
  const question =
    record.status.state === 'TASK_STATE_INPUT_REQUIRED' && record.status.message ? [record.status.message] : [];
  const status = nextStatus(record, now, 'TASK_STATE_WORKING');
  return {
    status,
    deadlineAt: now + command.deadlineMs,
    parked: null,
    messages: [...question, message],
    events: [statusEvent(record, status)],
    executions: [
      ...(record.parked ? [{ requeue: record.parked.ordinal }] : []),
      { open: record.messages + question.length + 1, ...trace },
    ],
  };
}

function continueIn(target: TaskView, command: SendCommand): AcceptDecision {
  return {
    kind: 'continue',
    taskId: target.record.id,
    change: follow(target, command),
    answer: command.answer,
  };
}

export function decideSend(view: AcceptView, command: SendCommand): AcceptDecision {
  if (view.tenant === 'removed') throw new DomainError('UNAUTHENTICATED', 'The caller is no longer known');
  if (view.repeat) {
    if (view.repeat.fingerprint !== command.fingerprint) {
      throw new DomainError('MESSAGE_ID_CONFLICT', 'This message id was already used for another message', {
        violations: [{ field: 'message.messageId', description: 'was already used with other content' }],
      });
    }
    if (!view.repeat.record) throw taskNotFound();
    return { kind: 'repeat' };
  }
  const { queued } = view;
  const { queueMax = QUEUE_MAX } = command;
  if (queued.tenant >= queueMax.tenant) {
    throw overloaded('queue-per-tenant', 'Too many messages of yours wait for the agent', LIMITS.queueRetryMs);
  }
  if (queued.everybody >= queueMax.everybody) {
    throw overloaded('queue', 'Too many messages wait for the agent', LIMITS.queueRetryMs);
  }
  const { taskId, contextId } = command.message;
  const named = view.task;
  if (named && contextId !== undefined && named.record.contextId !== contextId) {
    throw invalidParams('message.contextId', 'is not the context of the task');
  }
  if (command.policy === 'parallel') {
    if (taskId === undefined) return create(view, command, contextId ?? command.newContextId);
    if (!named) throw taskNotFound();
    if (isTerminal(named.record.status.state)) {
      throw new DomainError('UNSUPPORTED_OPERATION', 'The task has ended and takes no further message');
    }
    return continueIn(named, command);
  }
  if (named && !isTerminal(named.record.status.state)) return continueIn(named, command);
  if (taskId !== undefined && contextId === undefined) throw taskNotFound();
  if (view.active) return continueIn(view.active, command);
  return create(view, command, contextId ?? command.newContextId);
}
