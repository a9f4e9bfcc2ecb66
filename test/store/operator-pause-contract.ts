import assert from 'node:assert/strict';
import { test } from 'node:test';
import { audited, CAROL, failed, refuses, retry } from './operator-scenario.ts';
import { ALICE, accept, BOB, become, claim, claimOne, end, LEASE_MS, say, write } from './scenario.ts';
import type { Subject, SubjectFactory } from './subject.ts';

const SITE = ALICE.tenant;
const ELSEWHERE = { ...BOB, tenant: 'rovo:site-two' };

const ids = (claimed: readonly { readonly fence: { readonly taskId: string } }[]) =>
  claimed.map(({ fence }) => fence.taskId);

function pauseSite({ operator }: Subject): Promise<boolean> {
  return operator.pauseTenant(CAROL, SITE);
}

function resumeSite({ operator }: Subject): Promise<boolean> {
  return operator.resumeTenant(CAROL, SITE);
}

export function pauseContract(label: string, open: SubjectFactory): void {
  test(`${label} pause of a tenant: what waits and what comes is not claimed, others are; resumed, all of it in its old order`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 'first' });
    subject.advance(1);
    assert.equal(await pauseSite(subject), true);
    await accept(subject, { id: 'second' });
    subject.advance(1);
    await accept(subject, { id: 'elsewhere', owner: ELSEWHERE });
    assert.deepEqual(ids(await claim(subject)), ['elsewhere']);
    await end(subject, 'elsewhere');
    subject.advance(3_600_000);
    assert.deepEqual(await claim(subject), []);
    await accept(subject, { id: 'third' });
    subject.notified();
    assert.equal(await resumeSite(subject), true);
    assert(subject.notified().includes('work'));
    assert.deepEqual(ids(await claim(subject)), ['first', 'second', 'third']);
  });

  test(`${label} pause of a tenant: a turn that runs goes on, with its heartbeat and its inbox, to its end`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    await accept(subject, { id: 't1' });
    const { fence } = await claimOne(subject);
    await pauseSite(subject);
    subject.advance(LEASE_MS / 2);
    assert.equal((await store.heartbeat('worker-1', LEASE_MS)).length, 1);
    await say(subject, 't1', 'two');
    const { pending } = await store.update({ taskId: 't1', fence }, () => undefined);
    assert.deepEqual(
      pending.map(({ ordinal }) => ordinal),
      [2],
    );
    await write(subject, fence, { text: 'still here' });
    await store.update({ taskId: 't1', fence }, (view) =>
      become(view, 'TASK_STATE_WORKING', { executions: [{ close: 1, outcome: 'done' }] }),
    );
    assert.deepEqual(await claim(subject), []);
    await resumeSite(subject);
    assert.equal((await claimOne(subject)).fence.ordinal, 2);
  });

  test(`${label} pause of a tenant: a turn that was lost or given back meanwhile waits, too, and is still told to be lost`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    await accept(subject, { id: 'lost' });
    await accept(subject, { id: 'returned' });
    const [, returned] = await claim(subject);
    assert(returned);
    await pauseSite(subject);
    await store.update({ taskId: 'returned', fence: returned.fence }, () => ({
      executions: [{ requeue: 1, delayMs: 10 }],
    }));
    subject.advance(LEASE_MS * 2);
    assert.deepEqual(await claim(subject), []);
    await resumeSite(subject);
    const claimed = new Map((await claim(subject)).map((one) => [one.fence.taskId, one.lost]));
    assert.deepEqual([claimed.get('lost'), claimed.get('returned')], [true, false]);
  });

  test(`${label} pause of a tenant: twice is once, and only what changed something is audited`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    assert.equal(await resumeSite(subject), false);
    assert.deepEqual([await pauseSite(subject), await pauseSite(subject)], [true, false]);
    assert.deepEqual([await resumeSite(subject), await resumeSite(subject)], [true, false]);
    assert.deepEqual(ids(await claim(subject)), ['t1']);
    const deed = { ...CAROL, tenant: SITE };
    assert.deepEqual(await audited(subject), [
      { ...deed, act: 'tenant.pause' },
      { ...deed, act: 'tenant.resume' },
    ]);
  });

  test(`${label} pause of a tenant: one that nobody knows or that is removed is refused; a new one is known by its row`, async (t) => {
    const subject = await open(t);
    await refuses(pauseSite(subject), 'UNKNOWN_TENANT', /rovo:site-one/);
    await refuses(resumeSite(subject), 'UNKNOWN_TENANT');
    await subject.tenants.put(SITE, {});
    assert.equal(await pauseSite(subject), true);
    await accept(subject, { id: 't1' });
    assert.deepEqual(await claim(subject), []);
    await subject.tenants.remove(SITE);
    await refuses(pauseSite(subject), 'TENANT_REMOVED');
    await refuses(resumeSite(subject), 'TENANT_REMOVED');
  });

  test(`${label} pause of a tenant: removed and come back it is not paused`, async (t) => {
    const subject = await open(t);
    await subject.tenants.put(SITE, {});
    await pauseSite(subject);
    await subject.tenants.remove(SITE);
    await subject.tenants.put(SITE, {}, { reviveAfterMs: 0 });
    await accept(subject, { id: 't1' });
    assert.deepEqual(ids(await claim(subject)), ['t1']);
  });

  test(`${label} pause of a tenant: what is held back does not count as waiting long, and can be canceled and retried`, async (t) => {
    const subject = await open(t);
    const { store, operator } = subject;
    await failed(subject, { id: 'dead' });
    await accept(subject, { id: 'waiting' });
    await pauseSite(subject);
    subject.advance(60_000);
    assert.deepEqual(await store.backlog(), { waiting: 1, leased: 0, oldestMs: 0 });
    const held = await operator.executions({ outcome: 'open', limit: 10 });
    assert.deepEqual(
      held.map((entry) => [entry.taskId, entry.held]),
      [['waiting', true]],
    );
    await end(subject, 'waiting', 'TASK_STATE_CANCELED');
    await retry(subject, 'dead');
    assert.deepEqual(await claim(subject), []);
    await resumeSite(subject);
    assert.deepEqual(ids(await claim(subject)), ['retry-of-dead']);
  });

  test(`${label} pause of the runner: nobody claims anything until it is resumed; what runs goes on`, async (t) => {
    const subject = await open(t);
    const { store, operator } = subject;
    await accept(subject, { id: 'running' });
    const { fence } = await claimOne(subject);
    await accept(subject, { id: 'waiting', owner: ELSEWHERE });
    assert.deepEqual(await operator.runner(), {});
    assert.equal(await operator.pauseRunner(CAROL), true);
    assert.deepEqual(await operator.runner(), { pausedAt: subject.now() });
    assert.deepEqual(await claim(subject, 'worker-2'), []);
    await write(subject, fence, { text: 'on' });
    assert.equal((await store.heartbeat('worker-1', LEASE_MS)).length, 1);
    subject.advance(1_000);
    assert.equal(await operator.pauseRunner(CAROL), false);
    assert.deepEqual(await store.backlog(), { waiting: 1, leased: 1, oldestMs: 1_000 });
    subject.notified();
    assert.equal(await operator.resumeRunner(CAROL), true);
    assert(subject.notified().includes('work'));
    assert.equal(await operator.resumeRunner(CAROL), false);
    assert.deepEqual(ids(await claim(subject, 'worker-2')), ['waiting']);
    assert.deepEqual(await operator.runner(), {});
    const acts = (await audited(subject)).map(({ act }) => act);
    assert.deepEqual(acts, ['runner.pause', 'runner.resume']);
  });
}
