import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fenceKey } from '../../core/ports/task-store.ts';
import {
  ALICE,
  accept,
  ask,
  BOB,
  become,
  claim,
  claimOne,
  end,
  finish,
  LEASE_MS,
  message,
  rejectsWith,
  say,
  write,
} from './scenario.ts';
import type { Subject, SubjectFactory } from './subject.ts';

const ids = (claimed: readonly { readonly fence: { readonly taskId: string } }[]) =>
  claimed.map(({ fence }) => fence.taskId);

function closeTurn({ store }: Subject, taskId: string, ordinal: number): Promise<unknown> {
  return store.update({ taskId }, (view) => ask(view, ordinal));
}

export function claimContract(label: string, open: SubjectFactory): void {
  test(`${label} claim: oldest first, no more than asked, only of this agent`, async (t) => {
    const subject = await open(t);
    for (const id of ['t3', 't1', 't2']) {
      await accept(subject, { id });
      subject.advance(10);
    }
    await accept(subject, { id: 'other', owner: { ...ALICE, agent: 'another-agent' } });
    assert.deepEqual(ids(await claim(subject, 'worker-1', 2)), ['t3', 't1']);
    assert.deepEqual(ids(await claim(subject, 'worker-2', 2)), ['t2']);
    assert.deepEqual(ids(await claim(subject, 'worker-3', 2)), []);
  });

  test(`${label} claim: simultaneous claims share nothing`, async (t) => {
    const subject = await open(t);
    await Promise.all(Array.from({ length: 30 }, (_, n) => accept(subject, { id: `t${n}` })));
    const batches = await Promise.all(Array.from({ length: 10 }, (_, n) => claim(subject, `worker-${n}`, 5)));
    const claimed = batches.flatMap(ids);
    assert.equal(claimed.length, 30);
    assert.equal(new Set(claimed).size, 30);
  });

  test(`${label} claim: a lease that ran out is claimed again as lost, with the attempt counted`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const first = await claimOne(subject, 'worker-1');
    assert.deepEqual(first.fence, { taskId: 't1', ordinal: 1, worker: 'worker-1', attempt: 1 });
    assert.equal(first.lost, false);
    subject.advance(LEASE_MS - 1);
    assert.deepEqual(await claim(subject, 'worker-2'), []);
    subject.advance(1);
    const second = await claimOne(subject, 'worker-2');
    assert.equal(second.fence.attempt, 2);
    assert.equal(second.lost, true);
  });

  test(`${label} claim: of leases that ran out, those of turns that the worker is at go on and are not lost`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    for (const id of ['t1', 't2', 't3']) await accept(subject, { id });
    const [running, abandoned] = await claim(subject, 'worker-1', 2);
    assert.ok(running && abandoned);
    await claim(subject, 'worker-2', 1);
    subject.advance(LEASE_MS);
    const request = { agent: 'agent', worker: 'worker-1', leaseMs: LEASE_MS, limit: 9 };
    const { claimed } = await store.claim({ ...request, running: new Set([fenceKey(running.fence)]) }, () => undefined);
    assert.deepEqual(
      claimed.map(({ fence, lost }) => [fence.taskId, fence.attempt, lost]),
      [
        ['t2', 2, true],
        ['t3', 2, true],
      ],
    );
    subject.advance(LEASE_MS - 1);
    assert.deepEqual(await claim(subject, 'worker-3'), []);
    await write(subject, running.fence, { text: 'still here' });
  });

  test(`${label} claim: a turn that was given back is not lost and waits its delay`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    await accept(subject, { id: 't1' });
    const { fence } = await claimOne(subject, 'worker-1');
    await store.update({ taskId: 't1', fence }, () => ({ executions: [{ requeue: 1, delayMs: 500 }] }));
    await rejectsWith(write(subject, fence, { text: 'no' }), 'LEASE_LOST');
    assert.deepEqual(await claim(subject, 'worker-2'), []);
    subject.advance(500);
    const again = await claimOne(subject, 'worker-2');
    assert.equal(again.lost, false);
    assert.equal(again.fence.attempt, 2);
  });

  test(`${label} claim: a turn that had ended can be opened again`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    await claimOne(subject);
    await closeTurn(subject, 't1', 1);
    assert.deepEqual(await claim(subject), []);
    subject.notified();
    await subject.store.update({ taskId: 't1' }, (view) =>
      become(view, 'TASK_STATE_WORKING', { executions: [{ requeue: 1 }] }),
    );
    assert(subject.notified().includes('work'));
    const again = await claimOne(subject);
    assert.deepEqual([again.fence.ordinal, again.fence.attempt, again.lost], [1, 2, false]);
  });

  test(`${label} claim: only the oldest open turn of a task, one at a time`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    await say(subject, 't1', 'two');
    await say(subject, 't1', 'three');
    const first = await claimOne(subject);
    assert.equal(first.fence.ordinal, 1);
    assert.deepEqual(await claim(subject), []);
    await closeTurn(subject, 't1', 1);
    const second = await claimOne(subject);
    assert.equal(second.fence.ordinal, 2);
    assert.deepEqual(second.message, message('two'));
    assert.deepEqual(await claim(subject), []);
  });

  test(`${label} claim: an older turn that is opened again waits for the younger one's lease and then fences it`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    await claimOne(subject);
    await closeTurn(subject, 't1', 1);
    await say(subject, 't1', 'two');
    const younger = await claimOne(subject, 'worker-2');
    await subject.store.update({ taskId: 't1' }, () => ({ executions: [{ requeue: 1 }] }));
    assert.deepEqual(await claim(subject, 'worker-3'), []);
    subject.advance(LEASE_MS);
    const older = await claimOne(subject, 'worker-3');
    assert.equal(older.fence.ordinal, 1);
    await rejectsWith(write(subject, younger.fence, { text: 'beside' }), 'LEASE_LOST');
    await closeTurn(subject, 't1', 1);
    assert.equal((await claimOne(subject, 'worker-4')).lost, true);
  });

  test(`${label} claim: nothing of a removed tenant, nothing of a finished task`, async (t) => {
    const subject = await open(t);
    await subject.tenants.put(ALICE.tenant, {});
    await accept(subject, { id: 't1' });
    await accept(subject, { id: 't2', owner: { ...ALICE, tenant: 'no-row' } });
    await accept(subject, { id: 't3' });
    await end(subject, 't3', 'TASK_STATE_CANCELED');
    await subject.tenants.remove(ALICE.tenant);
    assert.deepEqual(ids(await claim(subject)), ['t2']);
  });

  test(`${label} claim: begin changes the task in the same commit and sees the attempt counted`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const {
      claimed: [claimed],
    } = await subject.store.claim(
      { agent: 'agent', worker: 'worker-1', leaseMs: LEASE_MS, limit: 1 },
      (view, execution) => {
        assert.deepEqual(execution, { ordinal: 1, attempt: 1, leased: true });
        assert.deepEqual(view.open, [execution]);
        return become(view, 'TASK_STATE_WORKING');
      },
    );
    assert.equal(claimed?.record.status.state, 'TASK_STATE_WORKING');
    assert.equal(claimed?.record.sequence, 2);
    assert.deepEqual(await subject.store.record(ALICE, 't1'), claimed?.record);
  });

  test(`${label} claim: a begin that throws leases nothing, one that ends the task hands nothing out`, async (t) => {
    const subject = await open(t);
    const request = { agent: 'agent', worker: 'worker-1', leaseMs: LEASE_MS, limit: 5 };
    await accept(subject, { id: 't1' });
    const thrown = new Error('not now');
    const refused = subject.store.claim(request, () => {
      throw thrown;
    });
    await assert.rejects(refused, { message: thrown.message });
    const ended = await subject.store.claim(request, (view) => finish(view, 'TASK_STATE_FAILED'));
    assert.deepEqual(ended, { claimed: [], more: false });
    const record = await subject.store.record(ALICE, 't1');
    assert.equal(record?.status.state, 'TASK_STATE_FAILED');
  });

  test(`${label} claim: a rerun gets what the lost attempt took from its inbox, then what waits`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const { fence } = await claimOne(subject, 'worker-1');
    for (const text of ['two', 'three', 'four']) await say(subject, 't1', text);
    for (const ordinal of [3, 2]) {
      await subject.store.update({ taskId: 't1', fence }, () => ({
        executions: [{ close: ordinal, outcome: 'closed', takenBy: 1 }],
      }));
    }
    await say(subject, 't1', 'five');
    subject.advance(LEASE_MS);
    const rerun = await claimOne(subject, 'worker-2');
    assert.deepEqual(
      rerun.pending.map(({ ordinal }) => ordinal),
      [2, 3, 4, 5],
    );
    assert.deepEqual(rerun.pending[0]?.message, message('two'));
  });

  test(`${label} heartbeat: extends what the worker holds and tells what waits`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    await accept(subject, { id: 't1' });
    await accept(subject, { id: 't2', owner: BOB });
    const held = await claim(subject, 'worker-1', 1);
    const [other] = await claim(subject, 'worker-2', 1);
    await say(subject, 't1', 'two');
    subject.advance(LEASE_MS - 1);
    assert.deepEqual(await store.heartbeat('worker-1', LEASE_MS), [{ fence: held[0]?.fence, newest: 2 }]);
    subject.advance(1);
    assert.deepEqual(ids(await claim(subject, 'worker-3')), [other?.fence.taskId]);
    assert.deepEqual(await store.heartbeat('worker-2', LEASE_MS), []);
    subject.advance(LEASE_MS - 2);
    assert.deepEqual(await claim(subject, 'worker-3'), []);
  });

  test(`${label} heartbeat: a canceled task and a removed tenant are no longer held`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    await accept(subject, { id: 't2', owner: { ...BOB, tenant: 'rovo:site-two' } });
    await claim(subject, 'worker-1');
    await end(subject, 't1', 'TASK_STATE_CANCELED');
    assert.deepEqual(ids(await subject.store.heartbeat('worker-1', LEASE_MS)), ['t2']);
    await subject.tenants.remove('rovo:site-two');
    assert.deepEqual(await subject.store.heartbeat('worker-1', LEASE_MS), []);
  });

  test(`${label} backlog: what waits, what runs, and how long the oldest available one has waited`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    assert.deepEqual(await store.backlog(), { waiting: 0, leased: 0, oldestMs: 0 });
    await accept(subject, { id: 't1' });
    await accept(subject, { id: 't2' });
    await claim(subject, 'worker-1', 1);
    subject.advance(700);
    await accept(subject, { id: 't3' });
    assert.deepEqual(await store.backlog(), { waiting: 2, leased: 1, oldestMs: 700 });
    await end(subject, 't2');
    assert.deepEqual(await store.backlog(), { waiting: 1, leased: 1, oldestMs: 0 });
  });
}
