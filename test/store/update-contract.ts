import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fence } from '../../core/ports/task-store.ts';
import { isTerminal, type TaskState } from '../../core/task.ts';
import {
  ALICE,
  accept,
  artifactWrite,
  BOB,
  become,
  claimOne,
  end,
  finish,
  followUp,
  LEASE_MS,
  message,
  rejectsWith,
  say,
  sequences,
  status,
  statusEvent,
  write,
} from './scenario.ts';
import type { SubjectFactory } from './subject.ts';

export function updateContract(label: string, open: SubjectFactory): void {
  test(`${label} update: undefined from decide writes nothing`, async (t) => {
    const subject = await open(t);
    const { record } = await accept(subject, { id: 't1' });
    subject.advance(1_000);
    subject.notified();
    const updated = await subject.store.update({ taskId: 't1' }, () => undefined);
    assert.deepEqual(updated, { changed: false, pending: [] });
    assert.deepEqual(await subject.store.record(ALICE, 't1'), record);
    assert.deepEqual(subject.notified(), []);
  });

  test(`${label} update: a foreign task is refused exactly as a missing one`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const texts: string[] = [];
    for (const request of [
      { taskId: 't1', owner: BOB },
      { taskId: 'no-such-task', owner: BOB },
      { taskId: 'no-such-task' },
    ]) {
      const refused = subject.store.update(request, () => assert.fail('decide was called'));
      await rejectsWith(refused, 'TASK_NOT_FOUND');
      await refused.catch((error: Error) => texts.push(error.message));
    }
    assert.equal(new Set(texts).size, 1);
  });

  test(`${label} update: who waits for a task is woken when it stops, and then reads so; a stranger reads nothing`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    await accept(subject, { id: 't1' });
    const change = async (state: TaskState): Promise<readonly string[]> => {
      subject.notified();
      await store.update({ taskId: 't1' }, (view) =>
        isTerminal(state) ? finish(view, state) : become(view, state, { executions: [] }),
      );
      assert.equal(await store.state(ALICE, 't1'), state);
      assert.equal(await store.state(BOB, 't1'), undefined);
      return subject.notified().filter((topic) => topic.startsWith('stop:'));
    };
    assert.equal(await store.state(ALICE, 't1'), 'TASK_STATE_SUBMITTED');
    assert.deepEqual(await change('TASK_STATE_WORKING'), []);
    assert.deepEqual(await change('TASK_STATE_INPUT_REQUIRED'), ['stop:t1']);
    assert.deepEqual(await change('TASK_STATE_AUTH_REQUIRED'), ['stop:t1']);
    assert.deepEqual(await change('TASK_STATE_WORKING'), []);
    assert.deepEqual(await change('TASK_STATE_COMPLETED'), ['stop:t1']);
    assert.equal(await store.state(ALICE, 'no-such-task'), undefined);
  });

  test(`${label} update: status, metadata, deadline and parking are set, kept and cleared`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    await accept(subject, { id: 't1' });
    subject.advance(1_000);
    const deadlineAt = subject.now() + 60_000;
    await store.update({ taskId: 't1', owner: ALICE }, (view) =>
      become(view, 'TASK_STATE_AUTH_REQUIRED', {
        metadata: { a: 1 },
        deadlineAt,
        parked: { ordinal: 1, tokenHash: '' },
      }),
    );
    await store.update({ taskId: 't1' }, () => ({ messages: [message('unrelated')] }));
    const parked = await store.record(ALICE, 't1');
    assert.equal(parked?.status.state, 'TASK_STATE_AUTH_REQUIRED');
    assert.deepEqual(parked?.metadata, { a: 1 });
    assert.equal(parked?.deadlineAt, deadlineAt);
    assert.deepEqual(parked?.parked, { ordinal: 1, tokenHash: '' });
    assert.equal(parked?.createdAt, subject.now() - 1_000);
    assert.equal(parked?.updatedAt, subject.now());
    await store.update({ taskId: 't1' }, (view) =>
      become(view, 'TASK_STATE_WORKING', { deadlineAt: null, parked: null, reply: true }),
    );
    const record = await store.record(ALICE, 't1');
    assert(record);
    assert.equal('deadlineAt' in record, false);
    assert.equal('parked' in record, false);
    assert.equal(record.reply, true);
  });

  test(`${label} update: events of simultaneous writers are numbered without gap or double`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    await Promise.all(Array.from({ length: 100 }, (_, n) => say(subject, 't1', `m${n}`)));
    assert.deepEqual(
      await sequences(subject, 't1'),
      Array.from({ length: 101 }, (_, n) => n + 1),
    );
    const page = await subject.store.events(ALICE, 't1', 40, 3);
    assert.deepEqual(
      page.map((event) => event.sequence),
      [41, 42, 43],
    );
    assert.deepEqual(await subject.store.events(BOB, 't1', 0, 10), []);
  });

  test(`${label} update: a finished task takes no change and no event`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    await end(subject, 't1', 'TASK_STATE_REJECTED');
    const before = await subject.store.read(ALICE, 't1', { artifacts: true });
    for (const change of [
      {},
      { messages: [message('x')] },
      { metadata: { x: 1 } },
      { events: [{ message: message('x') }] },
      { executions: [{ requeue: 1 }] },
    ]) {
      await rejectsWith(
        subject.store.update({ taskId: 't1' }, () => change),
        'INTERNAL',
      );
    }
    await rejectsWith(
      subject.store.update({ taskId: 't1' }, (view) => become(view, 'TASK_STATE_WORKING')),
      'INTERNAL',
    );
    assert.deepEqual(await subject.store.read(ALICE, 't1', { artifacts: true }), before);
    assert.deepEqual(await sequences(subject, 't1'), [1, 2]);
  });

  test(`${label} update: an end that leaves a turn open, and an event behind the end, cannot be stored`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    await rejectsWith(
      subject.store.update({ taskId: 't1' }, (view) => become(view, 'TASK_STATE_COMPLETED')),
      'INTERNAL',
    );
    await rejectsWith(
      subject.store.update({ taskId: 't1' }, (view) => {
        const change = finish(view);
        return { ...change, events: [...(change.events ?? []), { message: message('behind the end') }] };
      }),
      'INTERNAL',
    );
    await rejectsWith(
      subject.store.update({ taskId: 't1' }, (view) => {
        const working = status('TASK_STATE_WORKING', view.now);
        return { status: working, events: [statusEvent(view, status('TASK_STATE_FAILED', view.now))] };
      }),
      'INTERNAL',
    );
    assert.equal((await subject.store.record(ALICE, 't1'))?.status.state, 'TASK_STATE_SUBMITTED');
    assert.deepEqual(await sequences(subject, 't1'), [1]);
  });

  test(`${label} update: of a cancellation and a completion at once exactly one wins`, async (t) => {
    const subject = await open(t);
    for (let round = 0; round < 10; round += 1) {
      const taskId = `t${round}`;
      await accept(subject, { id: taskId });
      const { fence } = await claimOne(subject);
      const complete = () => subject.store.update({ taskId, fence }, (view) => finish(view));
      const cancel = () =>
        subject.store.update({ taskId }, (view) =>
          isTerminal(view.record.status.state) ? undefined : finish(view, 'TASK_STATE_CANCELED'),
        );
      const racers = round % 2 === 0 ? [complete(), cancel()] : [cancel(), complete()];
      await Promise.allSettled(racers);
      const ends = (await subject.store.events(ALICE, taskId, 1, 10)).length;
      assert.equal(ends, 1);
    }
  });

  test(`${label} fence: another worker, another attempt, another turn and a closed turn are refused`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    await say(subject, 't1', 'two');
    const { fence } = await claimOne(subject);
    const wrong: readonly Fence[] = [
      { ...fence, worker: 'somebody-else' },
      { ...fence, attempt: 2 },
      { ...fence, attempt: 0 },
      { ...fence, ordinal: 2 },
      { ...fence, ordinal: 3 },
    ];
    for (const other of wrong) await rejectsWith(write(subject, other, { text: 'no' }), 'LEASE_LOST');
    await write(subject, fence, { text: 'yes' });
    await subject.store.update({ taskId: 't1', fence }, () => ({
      executions: [{ close: 1, outcome: 'done' }],
    }));
    await rejectsWith(write(subject, fence, { text: 'too late' }), 'LEASE_LOST');
  });

  test(`${label} fence: a canceled task, a removed tenant and an erased task refuse the agent's writes`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const canceled = await claimOne(subject);
    await end(subject, 't1', 'TASK_STATE_CANCELED');
    await rejectsWith(write(subject, canceled.fence, { text: 'no' }), 'LEASE_LOST');
    await accept(subject, { id: 't2' });
    const { fence } = await claimOne(subject);
    await subject.tenants.remove(ALICE.tenant);
    await rejectsWith(write(subject, fence, { text: 'no' }), 'LEASE_LOST');
    await rejectsWith(subject.store.beginStep(fence, 'pay'), 'LEASE_LOST');
    await rejectsWith(subject.store.endStep(fence, 'pay', 1), 'LEASE_LOST');
    await subject.tenants.erase(ALICE.tenant, 10);
    await rejectsWith(write(subject, fence, { text: 'no' }), 'LEASE_LOST');
  });

  test(`${label} fence: a lease that ran out is its worker's until somebody takes it`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const first = await claimOne(subject, 'worker-1');
    subject.advance(LEASE_MS * 10);
    await write(subject, first.fence, { text: 'late, but still mine' });
    const second = await claimOne(subject, 'worker-2');
    await rejectsWith(write(subject, first.fence, { text: 'no longer' }), 'LEASE_LOST');
    await write(subject, second.fence, { text: 'mine' });
  });

  test(`${label} update: with a fence the messages that wait come back, without those that the turn took`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const { fence } = await claimOne(subject);
    await say(subject, 't1', 'two');
    await say(subject, 't1', 'three');
    const { pending } = await subject.store.update({ taskId: 't1', fence }, (view) => {
      assert.deepEqual(view.open, [
        { ordinal: 1, attempt: 1, leased: true },
        { ordinal: 2, attempt: 0, leased: false },
        { ordinal: 3, attempt: 0, leased: false },
      ]);
      return undefined;
    });
    assert.deepEqual(pending, [
      { ordinal: 2, message: message('two') },
      { ordinal: 3, message: message('three') },
    ]);
    const after = await subject.store.update({ taskId: 't1', fence }, () => ({
      artifacts: [artifactWrite(fence, { text: 'x' })],
      executions: [{ close: 2, outcome: 'closed', takenBy: 1 }],
    }));
    assert.deepEqual(after.pending, [{ ordinal: 3, message: message('three') }]);
    assert.deepEqual((await subject.store.update({ taskId: 't1' }, (view) => followUp(view, 'four'))).pending, []);
    const known = await subject.store.update({ taskId: 't1', fence, pendingAfter: 3 }, () => undefined);
    assert.deepEqual(known.pending, [{ ordinal: 4, message: message('four') }]);
  });

  test(`${label} step: a started step has no result, a finished one answers the first stored for ever`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    await accept(subject, { id: 't1' });
    const first = await claimOne(subject);
    assert.deepEqual(await store.beginStep(first.fence, 'pay'), { result: undefined });
    assert.deepEqual(await store.beginStep(first.fence, 'pay'), { result: undefined });
    subject.advance(LEASE_MS);
    const second = await claimOne(subject, 'worker-2');
    assert.deepEqual(await store.beginStep(second.fence, 'pay'), { result: undefined });
    assert.equal(await store.endStep(second.fence, 'pay', null), null);
    assert.deepEqual(await store.beginStep(second.fence, 'pay'), { result: { value: null } });
    assert.equal(await store.endStep(second.fence, 'pay', { paid: 2 }), null);
    assert.deepEqual(await store.beginStep(second.fence, 'Pay'), { result: undefined });
    await rejectsWith(store.endStep(first.fence, 'pay', 'stale'), 'LEASE_LOST');
  });

  test(`${label} due: tasks whose deadline has passed, until they end`, async (t) => {
    const subject = await open(t);
    for (const [n, ms] of [3_000, 1_000, 2_000].entries()) {
      await accept(subject, { id: `t${n}`, change: { deadlineAt: subject.now() + ms } });
    }
    await accept(subject, { id: 'no-deadline' });
    assert.deepEqual(await subject.store.due(10), []);
    subject.advance(2_000);
    assert.deepEqual(await subject.store.due(10), ['t1', 't2']);
    assert.deepEqual(await subject.store.due(1), ['t1']);
    await end(subject, 't1', 'TASK_STATE_FAILED');
    assert.deepEqual(await subject.store.due(10), ['t2']);
  });
}
