import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Begun } from '../../core/ports/slots.ts';
import type { Accepted } from '../../core/ports/task-store.ts';
import {
  ALICE,
  accept,
  BOB,
  begin,
  claim,
  claimOne,
  create,
  decideBegun,
  end,
  finish,
  followUp,
  LEASE,
  LEASE_MS,
  leased,
  message,
  peekAccept,
  rejectsWith,
  requestFor,
  sequences,
  write,
} from './scenario.ts';
import type { Subject, SubjectFactory } from './subject.ts';

const CAROL = { actor: 'carol' };

async function begunOf(accepted: Promise<Accepted>): Promise<Begun> {
  const { begun } = await accepted;
  assert(begun, 'no turn has begun');
  return begun;
}

async function queued(subject: Subject, owner = ALICE) {
  return (await peekAccept(subject, requestFor({ id: 'peek', owner }))).queued;
}

/** A turn that begins in the commit that accepts its message. */
export function beginContract(label: string, open: SubjectFactory): void {
  test(`${label} begin: task, first two events and lease belong to the commit of the message`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    const options = { id: 't1', contextId: 'c1', text: 'hi', key: 'm1' };
    const accepted = await store.accept(leased(options), decideBegun(options, 'trace-1'));
    const now = subject.now();
    const timestamp = new Date(now).toISOString();
    const submitted = { state: 'TASK_STATE_SUBMITTED', timestamp } as const;
    const working = { state: 'TASK_STATE_WORKING', timestamp } as const;
    const record = {
      ...{ id: 't1', owner: ALICE, contextId: 'c1', status: submitted, reply: false },
      ...{ sequence: 1, messages: 1, createdAt: now, updatedAt: now },
    };
    const stored = { ...record, status: working, sequence: 2 };
    const fence = { taskId: 't1', ordinal: 1, attempt: 1, worker: 'worker-1' };
    assert.deepEqual(accepted, {
      ...{ kind: 'create', record, sequence: 1, answer: 'task' },
      begun: { fence, status: working, sequence: 2, trace: 'trace-1' },
    });
    assert.deepEqual(await store.record(ALICE, 't1'), stored);
    assert.deepEqual(await store.events(ALICE, 't1', 0, 10), [
      { sequence: 1, at: now, body: { task: { id: 't1', contextId: 'c1', status: submitted } } },
      { sequence: 2, at: now, body: { statusUpdate: { taskId: 't1', contextId: 'c1', status: working } } },
    ]);
    const attempt = { ordinal: 1, attempt: 1, claimedAt: now, worker: 'worker-1' };
    assert.deepEqual((await subject.operator.taskFile('t1'))?.attempts, [attempt]);
  });

  test(`${label} begin: both events are told in one notice, and nobody is told that there is work`, async (t) => {
    const subject = await open(t);
    subject.notified();
    await begin(subject, { id: 't1' });
    assert.deepEqual(subject.notified(), ['task:t1']);
  });

  test(`${label} begin: whoever accepted it hears of its change of state, with the turn`, async (t) => {
    const subject = await open(t);
    const options = { id: 't1', contextId: 'c1' };
    const moved: unknown[] = [];
    const decide = Object.assign(decideBegun(options), { moved: (transition: unknown) => moved.push(transition) });
    await subject.store.accept(leased(options), decide);
    const [from, to] = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'];
    const turn = { ordinal: 1, attempt: 1 };
    assert.deepEqual(moved, [{ taskId: 't1', contextId: 'c1', owner: ALICE, from, to, turn }]);
  });

  test(`${label} begin: the turn counts as running and never as waiting, also as the first of its tenant`, async (t) => {
    const subject = await open(t);
    await begin(subject, { id: 't1' });
    assert.deepEqual(await subject.store.backlog(), { waiting: 0, leased: 1, oldestMs: 0 });
    assert.deepEqual(await queued(subject), { tenant: 0, everybody: 0 });
    await begin(subject, { id: 't2' });
    await accept(subject, { id: 't3' });
    assert.deepEqual(await queued(subject), { tenant: 1, everybody: 1 });
    // Two run for this tenant, so another one comes first although it came last.
    await accept(subject, { id: 'other', owner: { ...BOB, tenant: 'rovo:site-two' } });
    const claimed = await claim(subject);
    assert.deepEqual(
      claimed.map(({ fence }) => fence.taskId),
      ['other', 't3'],
    );
    for (const id of ['t1', 't2', 't3', 'other']) await end(subject, id);
    assert.deepEqual(await subject.store.backlog(), { waiting: 0, leased: 0, oldestMs: 0 });
    assert.deepEqual(await queued(subject), { tenant: 0, everybody: 0 });
  });

  test(`${label} begin: its fence lets the turn write, is extended, and ends the task`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    const { fence } = await begunOf(begin(subject, { id: 't1' }));
    assert.deepEqual(await claim(subject, 'worker-2'), []);
    await write(subject, fence, { text: 'a chunk' });
    subject.advance(LEASE_MS - 1);
    assert.deepEqual(await store.heartbeat('worker-1', LEASE_MS), [{ fence, newest: 1 }]);
    subject.advance(LEASE_MS - 1);
    assert.deepEqual(await claim(subject, 'worker-2'), []);
    await store.update({ taskId: 't1', fence }, (view) => finish(view));
    assert.equal((await store.record(ALICE, 't1'))?.status.state, 'TASK_STATE_COMPLETED');
    assert.deepEqual(await sequences(subject, 't1'), [1, 2, 3, 4]);
    assert.deepEqual(await claim(subject, 'worker-2'), []);
  });

  test(`${label} begin: a lease that ran out is claimed as lost, with the attempt counted`, async (t) => {
    const subject = await open(t);
    const { fence } = await begunOf(begin(subject, { id: 't1' }));
    subject.advance(LEASE_MS - 1);
    assert.deepEqual(await claim(subject, 'worker-2'), []);
    subject.advance(1);
    const again = await claimOne(subject, 'worker-2');
    assert.deepEqual([again.fence.attempt, again.lost], [2, true]);
    assert.deepEqual(again.message, message('hello'));
    await rejectsWith(write(subject, fence, { text: 'too late' }), 'LEASE_LOST');
  });

  test(`${label} begin: a repeat answers with the sequence that the message wrote, and begins nothing`, async (t) => {
    const subject = await open(t);
    await begin(subject, { id: 't1', key: 'm1', text: 'hi' });
    subject.notified();
    const repeated = await begin(subject, { id: 't2', key: 'm1', text: 'hi' });
    assert.deepEqual([repeated.kind, repeated.record.id, repeated.sequence], ['repeat', 't1', 1]);
    assert.equal(repeated.record.status.state, 'TASK_STATE_WORKING');
    assert.equal(repeated.begun, undefined);
    assert.deepEqual(subject.notified(), []);
    assert.deepEqual(await subject.store.backlog(), { waiting: 0, leased: 1, oldestMs: 0 });
  });

  test(`${label} begin: of 20 equal messages at once one begins`, async (t) => {
    const subject = await open(t);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => begin(subject, { id: `t${n}`, key: 'm1', text: 'hi' })),
    );
    assert.equal(answers.filter(({ begun }) => begun).length, 1);
    assert.equal((await subject.store.backlog()).leased, 1);
  });

  test(`${label} begin: a follow-up begins nothing and waits for the turn that runs`, async (t) => {
    const subject = await open(t);
    const { fence } = await begunOf(begin(subject, { id: 't1' }));
    const continued = await subject.store.accept({ owner: ALICE, taskId: 't1', lease: LEASE }, (view) => {
      assert(view.task);
      return { kind: 'continue', taskId: 't1', answer: 'task', change: followUp(view.task, 'two') };
    });
    assert.equal(continued.begun, undefined);
    assert.deepEqual(await claim(subject, 'worker-2'), []);
    const { pending } = await subject.store.update({ taskId: 't1', fence }, () => undefined);
    assert.deepEqual(pending, [{ ordinal: 2, message: message('two') }]);
  });

  test(`${label} begin: without one in the decision the turn waits, whatever lease was offered`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    subject.notified();
    const options = { id: 't1' };
    const accepted = await store.accept(leased(options), (view) => create(view, options));
    assert.equal(accepted.begun, undefined);
    assert.equal(accepted.record.status.state, 'TASK_STATE_SUBMITTED');
    assert(subject.notified().includes('work'));
    assert.deepEqual((await claimOne(subject)).fence, {
      ...{ taskId: 't1', ordinal: 1, attempt: 1, worker: 'worker-1' },
    });
  });

  test(`${label} begin: may be where a lease was offered and nothing is paused`, async (t) => {
    const subject = await open(t);
    const { operator } = subject;
    const free = async (owner = ALICE) => (await peekAccept(subject, leased({ id: 'peek', owner }))).free;
    assert.equal((await peekAccept(subject, requestFor({ id: 'peek' }))).free, false);
    assert.equal(await free(), true);
    await accept(subject, { id: 't1' });
    await operator.pauseTenant(CAROL, ALICE.tenant);
    assert.equal(await free(), false);
    assert.equal(await free({ ...BOB, tenant: 'rovo:site-two' }), true);
    assert.equal((await begin(subject, { id: 't2' })).begun, undefined);
    await operator.resumeTenant(CAROL, ALICE.tenant);
    assert.equal(await free(), true);
    await operator.pauseRunner(CAROL);
    assert.equal(await free(), false);
    await operator.resumeRunner(CAROL);
    assert.equal(await free(), true);
  });

  test(`${label} begin: what is undone with its message leaves no lease, no count and no attempt`, async (t) => {
    const subject = await open(t);
    await begin(subject, { id: 't1', text: 'first' });
    // An id that is taken: it fails when rows have been written, and its neighbours run again without it.
    const [refused, neighbour] = await Promise.allSettled([
      begin(subject, { id: 't1', owner: BOB, text: 'second' }),
      begin(subject, { id: 't2' }),
    ]);
    assert.equal(refused.status, 'rejected');
    assert(neighbour.status === 'fulfilled');
    assert.deepEqual(neighbour.value.begun?.fence, { taskId: 't2', ordinal: 1, attempt: 1, worker: 'worker-1' });
    assert.deepEqual(await subject.store.backlog(), { waiting: 0, leased: 2, oldestMs: 0 });
    assert.equal((await subject.operator.taskFile('t2'))?.attempts.length, 1);
    assert.deepEqual(await sequences(subject, 't2'), [1, 2]);
    subject.advance(LEASE_MS);
    assert.equal((await claim(subject, 'worker-2')).length, 2);
  });
}
