import { DomainError, isDomainError } from '../errors.ts';
import type { EventBody } from '../event.ts';
import { smallStatusUpdate } from '../frame-size.ts';
import { LIMITS } from '../limits.ts';
import type { JsonObject, Message, Part } from '../message.ts';
import type { ExecutionRecord, ExecutionWrite, TaskRecord, TaskView } from '../ports/task-store.ts';
import type { TaskState, TaskStatus } from '../task.ts';

/** What an agent or the service says to people, before it is addressed to a task. */
export interface Saying {
  readonly messageId: string;
  readonly parts: readonly Part[];
}

/** What a status follows, and where. */
export type StatusOf = Pick<TaskRecord, 'id' | 'contextId' | 'status'>;

let lastMs = Number.NaN;
let lastText = '';

/** Of what is committed together most has the same time, and making its text is dear. */
function timestampOf(ms: number): string {
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
}

/** Epoch milliseconds as a timestamp that is never before the one it follows. */
export function timestampAfter(previous: TaskStatus | undefined, now: number): string {
  const timestamp = timestampOf(now);
  // All of them are made here, of one length and in UTC: as texts they have the order of time.
  return previous !== undefined && previous.timestamp > timestamp ? previous.timestamp : timestamp;
}

export function agentMessage(record: Pick<TaskRecord, 'id' | 'contextId'>, saying: Saying): Message {
  return {
    messageId: saying.messageId,
    contextId: record.contextId,
    taskId: record.id,
    role: 'ROLE_AGENT',
    parts: saying.parts,
  };
}

export function nextStatus(record: StatusOf, now: number, state: TaskState, saying?: Saying): TaskStatus {
  const timestamp = timestampAfter(record.status, now);
  return saying ? { state, message: agentMessage(record, saying), timestamp } : { state, timestamp };
}

/** The event of a status, cut to fit a frame; the snapshot keeps all of it. */
export function statusEvent(
  record: Pick<TaskRecord, 'id' | 'contextId'>,
  status: TaskStatus,
  metadata?: JsonObject,
): EventBody {
  const update = { taskId: record.id, contextId: record.contextId, status };
  return smallStatusUpdate(metadata ? { ...update, metadata } : update);
}

const FULL = 'The task has as many events as it may have';

/** Tells it from everything else that ends a turn, also when it was thrown in another thread. */
export function isTaskFull(error: unknown): boolean {
  return isDomainError(error, 'UNSUPPORTED_OPERATION') && error.message === FULL;
}

/** An agent that never stops reporting would fill the disk until its deadline. What ends a task always has room. */
export function roomForEvents({ record }: TaskView): void {
  if (record.sequence >= LIMITS.eventsMax) throw new DomainError('UNSUPPORTED_OPERATION', FULL);
}

/** Ends every open execution but `except`. */
export function closeOthers(open: readonly ExecutionRecord[], except?: number): readonly ExecutionWrite[] {
  return open
    .filter((execution) => execution.ordinal !== except)
    .map((execution) => ({ close: execution.ordinal, outcome: 'closed' }) as const);
}
