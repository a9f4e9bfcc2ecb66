import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CAROL, failed, retry } from './operator-scenario.ts';
import { ALICE, accept, BOB, claimOne, end, LEASE_MS, message, say } from './scenario.ts';
import type { SubjectFactory } from './subject.ts';

const ELSEWHERE = { ...BOB, tenant: 'rovo:site-two' };

export function operatorReadsContract(label: string, open: SubjectFactory): void {
  test(`${label} executions: dead ones with what is known of them, newest first, by tenant and up to the limit`, async (t) => {
    const subject = await open(t);
    const { operator } = subject;
    await failed(subject, { id: 't1', contextId: 'c1' }, 'it broke');
    const at = subject.now();
    subject.advance(10);
    await failed(subject, { id: 't2', owner: ELSEWHERE });
    await accept(subject, { id: 'waiting' });
    const dead = await operator.executions({ outcome: 'dead', limit: 10 });
    assert.deepEqual(
      dead.map(({ taskId }) => taskId),
      ['t2', 't1'],
    );
    assert.deepEqual(dead[1], {
      ...{ taskId: 't1', owner: ALICE, contextId: 'c1', state: 'TASK_STATE_FAILED' },
      ...{ ordinal: 1, outcome: 'dead', attempts: 1, openedAt: at, held: false, error: 'it broke' },
      ...{ worker: 'worker-of-the-dead', endedAt: at },
    });
    const elsewhere = await operator.executions({ outcome: 'dead', tenant: ELSEWHERE.tenant, limit: 10 });
    assert.deepEqual(elsewhere, dead.slice(0, 1));
    assert.deepEqual(await operator.executions({ outcome: 'dead', limit: 1 }), dead.slice(0, 1));
  });

  test(`${label} executions: open ones tell who has them and until when`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    await claimOne(subject, 'worker-7');
    subject.advance(1);
    await accept(subject, { id: 't2' });
    const entries = await subject.operator.executions({ outcome: 'open', limit: 10 });
    assert.deepEqual(
      entries.map(({ taskId, worker, leasedUntil, attempts }) => [taskId, worker, leasedUntil, attempts]),
      [
        ['t2', undefined, undefined, 0],
        ['t1', 'worker-7', subject.now() - 1 + LEASE_MS, 1],
      ],
    );
  });

  test(`${label} tasks: of all owners, newest first; each filter alone and together`, async (t) => {
    const subject = await open(t);
    const { operator } = subject;
    await accept(subject, { id: 't1', contextId: 'c1' });
    await accept(subject, { id: 't2', contextId: 'c1', owner: BOB });
    await accept(subject, { id: 't3', contextId: 'c3', owner: ELSEWHERE });
    await end(subject, 't3');
    const idsOf = async (filter: object) => (await operator.tasks({ limit: 10, ...filter })).map(({ id }) => id);
    assert.deepEqual(await idsOf({}), ['t3', 't2', 't1']);
    assert.deepEqual(await idsOf({ limit: 2 }), ['t3', 't2']);
    assert.deepEqual(await idsOf({ tenant: ALICE.tenant }), ['t2', 't1']);
    assert.deepEqual(await idsOf({ principal: BOB.principal }), ['t3', 't2']);
    assert.deepEqual(await idsOf({ contextId: 'c1' }), ['t2', 't1']);
    assert.deepEqual(await idsOf({ state: 'TASK_STATE_COMPLETED' }), ['t3']);
    assert.deepEqual(await idsOf({ principal: BOB.principal, tenant: ALICE.tenant }), ['t2']);
    assert.deepEqual(await idsOf({ principal: ALICE.principal, state: 'TASK_STATE_COMPLETED' }), []);
    assert.deepEqual((await operator.tasks({ limit: 1 }))[0], await subject.store.record(ELSEWHERE, 't3'));
  });

  test(`${label} a task's file: messages, turns, steps and the acts on it; unknown is undefined`, async (t) => {
    const subject = await open(t);
    const { store, operator } = subject;
    assert.equal(await operator.taskFile('nowhere'), undefined);
    await accept(subject, { id: 't1', exclusive: true, text: 'one' });
    await say(subject, 't1', 'two');
    const begun = subject.now();
    const { fence } = await claimOne(subject);
    await store.beginStep(fence, 'post');
    subject.advance(5);
    await store.endStep(fence, 'post', { posted: true });
    await store.beginStep(fence, 'pay');
    await operator.pauseTenant(CAROL, ALICE.tenant);
    const file = await operator.taskFile('t1');
    assert.deepEqual(file?.record, await store.record(ALICE, 't1'));
    assert.deepEqual([file?.exclusive, file?.tenant, file?.tenantPausedAt], [true, 'active', subject.now()]);
    assert.deepEqual(file?.messages, [message('one'), message('two')]);
    assert.deepEqual(
      file?.turns.map(({ ordinal, attempts, held }) => [ordinal, attempts, held]),
      [
        [1, 1, false],
        [2, 0, true],
      ],
    );
    assert.deepEqual(file?.attempts, [{ ordinal: 1, attempt: 1, claimedAt: begun, worker: 'worker-1' }]);
    const step = { ordinal: 1, attempt: 1 };
    assert.deepEqual(file?.steps, [
      { ...step, key: 'post', startedAt: begun, finishedAt: begun + 5, resultChars: '{"posted":true}'.length },
      { ...step, key: 'pay', startedAt: begun + 5 },
    ]);
    assert.deepEqual(file?.acts, []);
  });

  test(`${label} a task's file: every attempt with its process, also the lost ones`, async (t) => {
    const subject = await open(t);
    const begun = subject.now();
    await accept(subject, { id: 't1' });
    await claimOne(subject, 'worker-1');
    subject.advance(LEASE_MS);
    await claimOne(subject, 'worker-2');
    const file = await subject.operator.taskFile('t1');
    assert.deepEqual(file?.attempts, [
      { ordinal: 1, attempt: 1, claimedAt: begun, worker: 'worker-1' },
      { ordinal: 1, attempt: 2, claimedAt: begun + LEASE_MS, worker: 'worker-2' },
    ]);
    assert.deepEqual([file?.turns[0]?.worker, file?.turns[0]?.attempts], ['worker-2', 2]);
  });

  test(`${label} a task's file: a retry is told at the failed task, its mark at the new one`, async (t) => {
    const subject = await open(t);
    await failed(subject, { id: 't1' });
    await retry(subject, 't1');
    const [old, fresh] = [await subject.operator.taskFile('t1'), await subject.operator.taskFile('retry-of-t1')];
    assert.deepEqual(
      old?.acts.map(({ act, detail }) => [act, detail]),
      [['execution.retry', { retriedAs: 'retry-of-t1' }]],
    );
    assert.equal(old?.turns[0]?.retriedAs, 'retry-of-t1');
    assert.deepEqual([fresh?.acts, fresh?.record.metadata], [[], { retryOf: 't1' }]);
  });

  test(`${label} tenants: with or without a row, with their tasks, pauses and removal`, async (t) => {
    const subject = await open(t);
    const { operator, tenants } = subject;
    await tenants.put('rovo:empty', { site: 's' });
    await tenants.put('rovo:gone', {});
    await tenants.remove('rovo:gone');
    await accept(subject, { id: 't1' });
    await accept(subject, { id: 't2', owner: BOB });
    await end(subject, 't2');
    await operator.pauseTenant(CAROL, ALICE.tenant);
    const active = { status: 'active', attributes: {}, tasks: 0, live: 0 };
    assert.deepEqual(await operator.tenants(), [
      { ...active, id: 'rovo:empty', attributes: { site: 's' } },
      { ...active, id: 'rovo:gone', status: 'removed', removedAt: subject.now() },
      { ...active, id: ALICE.tenant, pausedAt: subject.now(), tasks: 2, live: 1 },
    ]);
  });
}
