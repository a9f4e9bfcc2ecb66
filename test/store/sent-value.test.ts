import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACCEPTED, type SentValue, UPDATED } from '../../adapters/sqlite/sent-value.ts';
import type { Accepted, TaskRecord } from '../../core/ports/task-store.ts';

const owner = { tenant: 'acme', principal: 'ada', agent: 'echo' };
const timestamp = '2026-12-01T10:00:00.000Z';
const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hello' }] } as const;
const status = { state: 'TASK_STATE_SUBMITTED', timestamp } as const;

/** With a value for each key that there is: a new one has to come through, too. */
const every: Required<TaskRecord> = {
  id: 'task-1',
  owner,
  delegate: 'app',
  contextId: 'context-1',
  status: { ...status, message },
  metadata: { a: 1 },
  reply: true,
  sequence: 3,
  messages: 2,
  deadlineAt: 5,
  parked: { ordinal: 1, tokenHash: '' },
  createdAt: 1,
  updatedAt: 2,
};
const { delegate: _delegate, metadata: _metadata, deadlineAt: _deadline, parked: _parked, ...most } = every;
const record: TaskRecord = { ...most, status, reply: false };
const accepted: Accepted = { kind: 'create', record, sequence: 3, answer: 'task' };
const fence = { taskId: 'task-1', ordinal: 1, worker: 'worker-1', attempt: 1 };
const begun = {
  fence,
  status: { state: 'TASK_STATE_WORKING', timestamp: '2026-12-01T10:00:00.001Z' },
  sequence: 4,
} as const;

function roundTrip(codec: SentValue, value: unknown, given: unknown = { owner }): unknown {
  return codec.receive(structuredClone(codec.send(value)), [given]);
}

const ACCEPTANCES: Readonly<Record<string, Accepted>> = {
  'that makes a task': accepted,
  'into a task': { ...accepted, kind: 'continue', answer: 'message' },
  'of a repeat, which tells of its first call': { ...accepted, kind: 'repeat', sequence: 1 },
  'that begins a turn': { ...accepted, begun },
  'that begins a turn with a trace': { ...accepted, begun: { ...begun, trace: '00-1-2-01' } },
  'that begins a turn with words': { ...accepted, begun: { ...begun, status: { ...begun.status, message } } },
};

for (const [name, value] of Object.entries(ACCEPTANCES)) {
  test(`sent values: an acceptance ${name} comes back as it was`, () => {
    assert.deepEqual(roundTrip(ACCEPTED, value), value);
  });
}

for (const [key, value] of Object.entries(every)) {
  test(`sent values: what an acceptance says of ${key} comes back as it was`, () => {
    const told = { ...accepted, record: { ...record, [key]: value } };
    assert.deepEqual(roundTrip(ACCEPTED, told), told);
  });
}

test('sent values: an acceptance names no key, and not whose it is', () => {
  const sent = ACCEPTED.send({ ...accepted, record: { ...record, deadlineAt: 5 }, begun });
  const text = JSON.stringify(sent);
  assert.ok(Array.isArray(sent), text);
  for (const key of ['record', 'status', 'deadlineAt', 'fence', 'acme', 'ada'])
    assert.ok(!text.includes(key), `${key}: ${text}`);
});

test('sent values: an update comes back as it was', () => {
  const pending = [{ ordinal: 2, message }];
  for (const value of [
    { changed: true, pending: [] },
    { changed: false, pending: [] },
    { changed: true, pending },
    { changed: false, pending },
  ]) {
    assert.deepEqual(roundTrip(UPDATED, value), value);
  }
  assert.equal(UPDATED.send({ changed: true, pending: [] }), true);
});
