import type { Begun } from '../../core/ports/slots.ts';
import type { Accepted, AcceptRequest, AnswerKind, TaskRecord, Updated } from '../../core/ports/task-store.ts';
import type { Owner } from '../../core/principal.ts';
import type { TaskState } from '../../core/task.ts';
import type { Unfinished } from './column-values.ts';

/*
 * What a write answers, on its way to another thread. What every message brings goes by place, because copying names and
 * objects takes longer than copying what they hold; what is rare goes as it is.
 */

/** How the answers of one method are sent, and made again of that and of what the method was given. */
export interface SentValue {
  send(value: unknown): unknown;
  receive(sent: unknown, args: readonly unknown[]): unknown;
}

export const ACCEPTED: SentValue = {
  send: (value) => sentAccepted(value as Accepted),
  receive: (sent, args) => receivedAccepted(sent as SentAccepted | Accepted, args[0] as AcceptRequest),
};

export const UPDATED: SentValue = {
  send: (value) => ((value as Updated).pending.length > 0 ? value : (value as Updated).changed),
  receive: (sent): Updated => (typeof sent === 'boolean' ? { changed: sent, pending: [] } : (sent as Updated)),
};

type SentAccepted = readonly [
  ...[kind: Accepted['kind'], answer: AnswerKind, sequence: number, record: SentRecord, begun: SentBegun | undefined],
];

/** Whose it is, the other side knows: who sent the message. */
type SentRecord = readonly [
  ...[id: string, contextId: string, state: TaskState, timestamp: string, sequence: number, messages: number],
  ...[createdAt: number, updatedAt: number, deadlineAt: number | undefined],
];

type SentBegun = readonly [
  ...[ordinal: number, worker: string, attempt: number, state: TaskState, timestamp: string, sequence: number],
  ...[trace: string | undefined],
];

function sentAccepted(accepted: Accepted): SentAccepted | Accepted {
  const { kind, answer, sequence, record, begun } = accepted;
  if (record.delegate !== undefined || record.metadata || record.parked || record.reply) return accepted;
  if (record.status.message || begun?.status.message) return accepted;
  return [kind, answer, sequence, sentRecord(record), begun && sentBegun(begun)];
}

function sentRecord({ id, contextId, status, sequence, messages, createdAt, updatedAt, deadlineAt }: TaskRecord) {
  const { state, timestamp } = status;
  const sent: SentRecord = [id, contextId, state, timestamp, sequence, messages, createdAt, updatedAt, deadlineAt];
  return sent;
}

function sentBegun({ fence, status, sequence, trace }: Begun): SentBegun {
  const { ordinal, worker, attempt } = fence;
  const { state, timestamp } = status;
  return [ordinal, worker, attempt, state, timestamp, sequence, trace];
}

function receivedAccepted(received: SentAccepted | Accepted, { owner }: AcceptRequest): Accepted {
  if ('record' in received) return received;
  const [kind, answer, sequence, sent, begun] = received;
  const record = receivedRecord(owner, sent);
  return begun
    ? { kind, record, begun: receivedBegun(record.id, begun), sequence, answer }
    : { kind, record, sequence, answer };
}

function receivedRecord(owner: Owner, sent: SentRecord): TaskRecord {
  const [id, contextId, state, timestamp, sequence, messages, createdAt, updatedAt, deadlineAt] = sent;
  const record: Unfinished<TaskRecord> = {
    id,
    owner,
    contextId,
    status: { state, timestamp },
    reply: false,
    sequence,
    messages,
    createdAt,
    updatedAt,
  };
  if (deadlineAt !== undefined) record.deadlineAt = deadlineAt;
  return record;
}

function receivedBegun(taskId: string, sent: SentBegun): Begun {
  const [ordinal, worker, attempt, state, timestamp, sequence, trace] = sent;
  const fence = { taskId, ordinal, worker, attempt };
  const status = { state, timestamp };
  return trace === undefined ? { fence, status, sequence } : { fence, status, sequence, trace };
}
