import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideCancel } from '../../core/decide/end.ts';
import { chooseDead } from '../../core/decide/retry.ts';
import { audited, CAROL, failed, refuses, retry } from './operator-scenario.ts';
import { ALICE, accept, BOB, claim, claimOne, end, LEASE_MS, message, rejectsWith, write } from './scenario.ts';
import type { SubjectFactory } from './subject.ts';

/** Acts on executions and tasks, each with its audit row in the same commit. */
export function operatorContract(label: string, open: SubjectFactory): void {
  test(`${label} retry: a new task in the same context from the same message, which runs; the failed one stays`, async (t) => {
    const subject = await open(t);
    const { store, operator } = subject;
    await failed(subject, { id: 't1', contextId: 'c1', text: 'do it' });
    const before = await store.read(ALICE, 't1', { artifacts: true });
    subject.advance(1_000);
    subject.notified();
    const record = await retry(subject, 't1');
    assert.deepEqual(
      [record.id, record.owner, record.contextId, record.status.state, record.metadata],
      ['retry-of-t1', ALICE, 'c1', 'TASK_STATE_SUBMITTED', { retryOf: 't1' }],
    );
    assert.equal(record.deadlineAt, subject.now() + 60_000);
    assert(subject.notified().includes('work'));
    const snapshot = await store.read(ALICE, record.id, { artifacts: false });
    assert.deepEqual(snapshot?.task.metadata, { retryOf: 't1' });
    const first = { ...message('do it'), contextId: 'c1', taskId: record.id };
    assert.deepEqual(snapshot?.task.history, [first]);
    const [event] = await store.events(ALICE, record.id, 0, 10);
    assert(event && 'task' in event.body);
    assert.deepEqual(event.body.task.metadata, { retryOf: 't1' });
    const claimed = await claimOne(subject);
    assert.deepEqual([claimed.fence.taskId, claimed.message], [record.id, first]);
    assert.deepEqual(await store.read(ALICE, 't1', { artifacts: true }), before);
    const [dead] = await operator.executions({ outcome: 'dead', limit: 10 });
    assert.deepEqual([dead?.taskId, dead?.outcome, dead?.retriedAs], ['t1', 'dead', record.id]);
  });

  test(`${label} retry: a second one of the same turn is refused and names the first, unless again; both are audited`, async (t) => {
    const subject = await open(t);
    await failed(subject, { id: 't1' });
    await retry(subject, 't1');
    await refuses(retry(subject, 't1', { newTaskId: 'second' }), 'ALREADY_RETRIED', /retry-of-t1/);
    assert.equal(await subject.store.record(ALICE, 'second'), undefined);
    await retry(subject, 't1', { newTaskId: 'second', again: true });
    const deed = { ...CAROL, act: 'execution.retry', tenant: ALICE.tenant, taskId: 't1', ordinal: 1 };
    assert.deepEqual(await audited(subject), [
      { ...deed, detail: { retriedAs: 'retry-of-t1' } },
      { ...deed, detail: { retriedAs: 'second' } },
    ]);
  });

  test(`${label} retry: simultaneous ones of the same turn make one task`, async (t) => {
    const subject = await open(t);
    await failed(subject, { id: 't1' });
    const attempts = Array.from({ length: 10 }, (_, n) => retry(subject, 't1', { newTaskId: `n${n}` }));
    const results = await Promise.allSettled(attempts);
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal((await audited(subject)).length, 1);
    assert.equal((await subject.operator.tasks({ limit: 100 })).length, 2);
  });

  test(`${label} retry: only of a dead turn`, async (t) => {
    const subject = await open(t);
    await refuses(retry(subject, 'nowhere'), 'UNKNOWN_TASK', /nowhere/);
    await accept(subject, { id: 't1' });
    await refuses(retry(subject, 't1'), 'TURN_NOT_DEAD', /turn 1 is open/);
    await refuses(retry(subject, 't1', { ordinal: 1 }), 'TURN_NOT_DEAD', /turn 1 is open/);
    await refuses(retry(subject, 't1', { ordinal: 2 }), 'UNKNOWN_TURN', /no turn 2/);
    await end(subject, 't1');
    await refuses(retry(subject, 't1'), 'TURN_NOT_DEAD', /turn 1 is done/);
    assert.deepEqual(await audited(subject), []);
  });

  test(`${label} retry: a context that may have one live task has to be free`, async (t) => {
    const subject = await open(t);
    await failed(subject, { id: 't1', contextId: 'c1', exclusive: true });
    await accept(subject, { id: 'busy', contextId: 'c1', exclusive: true });
    await refuses(retry(subject, 't1'), 'CONTEXT_BUSY', /task busy/);
    await end(subject, 'busy');
    await retry(subject, 't1');
    // It takes the context as the old one did.
    await rejectsWith(accept(subject, { id: 't2', contextId: 'c1', exclusive: true }), 'STORE_UNAVAILABLE');
  });

  test(`${label} retry: in a context without that rule it runs beside the others`, async (t) => {
    const subject = await open(t);
    await failed(subject, { id: 't1', contextId: 'c1' });
    await accept(subject, { id: 'other', contextId: 'c1' });
    await retry(subject, 't1');
    assert.deepEqual((await claim(subject)).map(({ fence }) => fence.taskId).sort(), ['other', 'retry-of-t1']);
  });

  test(`${label} retry: nothing for a removed tenant`, async (t) => {
    const subject = await open(t);
    await failed(subject, { id: 't1' });
    await subject.tenants.remove(ALICE.tenant);
    await refuses(retry(subject, 't1'), 'TENANT_REMOVED');
  });

  test(`${label} close: a dead turn is closed for good and keeps its error`, async (t) => {
    const subject = await open(t);
    const { operator } = subject;
    await failed(subject, { id: 't1' }, 'it broke');
    const close = () => operator.close(CAROL, 't1', (turns) => chooseDead(turns));
    assert.deepEqual(await close(), { ordinal: 1 });
    assert.deepEqual(await operator.executions({ outcome: 'dead', limit: 10 }), []);
    const [turn] = (await operator.taskFile('t1'))?.turns ?? [];
    assert.deepEqual([turn?.outcome, turn?.error], ['closed', 'it broke']);
    await refuses(close(), 'TURN_NOT_DEAD', /turn 1 is closed/);
    await refuses(retry(subject, 't1'), 'TURN_NOT_DEAD');
    const deed = { ...CAROL, act: 'execution.close', tenant: ALICE.tenant, taskId: 't1', ordinal: 1 };
    assert.deepEqual(await audited(subject), [deed]);
  });

  test(`${label} cancel: fences the runner, ends the task and is audited; a second one does nothing`, async (t) => {
    const subject = await open(t);
    const { store, operator } = subject;
    await accept(subject, { id: 't1', owner: BOB });
    const { fence } = await claimOne(subject);
    subject.notified();
    const cancel = () => operator.cancel(CAROL, 't1', (view) => decideCancel(view));
    const { record, changed } = await cancel();
    assert.deepEqual([record.status.state, changed], ['TASK_STATE_CANCELED', true]);
    const notified = subject.notified();
    assert(notified.includes('task:t1') && notified.includes('turn:t1'));
    await rejectsWith(write(subject, fence, { text: 'late' }), 'LEASE_LOST');
    assert.equal((await cancel()).changed, false);
    assert.deepEqual((await store.record(BOB, 't1'))?.status.state, 'TASK_STATE_CANCELED');
    const detail = { from: 'TASK_STATE_SUBMITTED', to: 'TASK_STATE_CANCELED' };
    const deed = { ...CAROL, act: 'task.cancel', tenant: BOB.tenant, taskId: 't1', detail };
    assert.deepEqual(await audited(subject), [deed]);
    await refuses(
      operator.cancel(CAROL, 'nowhere', () => undefined),
      'UNKNOWN_TASK',
    );
  });

  test(`${label} audit: what an act refuses or decide throws leaves neither a change nor a row`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const stop = new Error('stop');
    await assert.rejects(
      subject.operator.cancel(CAROL, 't1', () => {
        throw stop;
      }),
      (error) => error === stop,
    );
    assert.equal((await subject.store.record(ALICE, 't1'))?.status.state, 'TASK_STATE_SUBMITTED');
    assert.deepEqual(await audited(subject), []);
  });

  test(`${label} audit: newest first, numbered, with the time of the act; without account or reason it has none`, async (t) => {
    const subject = await open(t);
    const { operator } = subject;
    await operator.pauseRunner(CAROL);
    subject.advance(LEASE_MS);
    await operator.resumeRunner({ actor: 'dave' });
    const entries = await operator.audit(10);
    assert.deepEqual(
      entries.map(({ actor, account, reason, act, at }) => [actor, account, reason, act, at]),
      [
        ['dave', undefined, undefined, 'runner.resume', subject.now()],
        ['carol', 'ops', 'because', 'runner.pause', subject.now() - LEASE_MS],
      ],
    );
    assert((entries[0]?.number ?? 0) > (entries[1]?.number ?? 0));
    assert.deepEqual(await operator.audit(1), entries.slice(0, 1));
    const [newest, ...older] = entries;
    assert.deepEqual(await operator.actsAfter(0, 10), [...entries].reverse());
    assert.deepEqual(await operator.actsAfter(0, 1), older.slice(-1));
    assert.deepEqual(await operator.actsAfter(newest?.number ?? 0, 10), []);
  });
}
