import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Part } from '../../core/message.ts';
import {
  ALICE,
  accept,
  BOB,
  claimOne,
  create,
  end,
  followUp,
  message,
  peekAccept,
  rejectsWith,
  requestFor,
  say,
  sequences,
} from './scenario.ts';
import type { SubjectFactory } from './subject.ts';

export function acceptContract(label: string, open: SubjectFactory): void {
  test(`${label} accept: task, history, first event, outbox and wake-ups belong to one commit`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    const accepted = await store.accept(
      { owner: ALICE, key: { contextId: '', messageId: 'm1', fingerprint: 'f1' } },
      (view) => {
        const decision = create(view, { id: 't1', contextId: 'c1', text: 'hi' });
        assert(decision.kind === 'create');
        return {
          ...decision,
          task: { ...decision.task, delegate: 'agent-account' },
          change: {
            ...decision.change,
            metadata: { kind: 'assignment' },
            deadlineAt: view.now + 5_000,
            executions: [{ open: 1, trace: 'trace-1' }],
          },
        };
      },
    );
    const now = subject.now();
    const timestamp = new Date(now).toISOString();
    const record = {
      id: 't1',
      owner: ALICE,
      delegate: 'agent-account',
      contextId: 'c1',
      status: { state: 'TASK_STATE_SUBMITTED', timestamp },
      metadata: { kind: 'assignment' },
      reply: false,
      sequence: 1,
      messages: 1,
      deadlineAt: now + 5_000,
      createdAt: now,
      updatedAt: now,
    };
    assert.deepEqual(accepted, { kind: 'create', record, sequence: 1, answer: 'task' });
    assert.deepEqual(new Set(subject.notified()), new Set(['task:t1', 'turn:t1', 'work']));
    assert.deepEqual(await store.record(ALICE, 't1'), record);
    assert.deepEqual(await store.read(ALICE, 't1', { artifacts: true }), {
      record,
      task: {
        id: 't1',
        contextId: 'c1',
        status: record.status,
        artifacts: [],
        history: [message('hi')],
        metadata: { kind: 'assignment' },
      },
    });
    assert.deepEqual(await store.events(ALICE, 't1', 0, 10), [
      { sequence: 1, body: { task: { id: 't1', contextId: 'c1', status: record.status } }, at: now },
    ]);
    const claimed = await claimOne(subject);
    assert.deepEqual(claimed.message, message('hi'));
    assert.equal(claimed.trace, 'trace-1');
  });

  test(`${label} accept: a repeat answers the first task as it is now and the event of the first call`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', key: 'm1', text: 'hi' });
    await end(subject, 't1');
    subject.notified();
    const view = await peekAccept(subject, requestFor({ id: 'other', key: 'm1' }));
    assert.equal(view.repeat?.fingerprint, 'print of hi');
    assert.equal(view.repeat?.record?.status.state, 'TASK_STATE_COMPLETED');
    const repeated = await accept(subject, { id: 'other', key: 'm1', text: 'hi' });
    assert.equal(repeated.kind, 'repeat');
    assert.equal(repeated.record.id, 't1');
    assert.equal(repeated.record.sequence, 2);
    assert.equal(repeated.sequence, 1);
    assert.deepEqual(subject.notified(), []);
    assert.equal(await subject.store.record(ALICE, 'other'), undefined);
  });

  test(`${label} accept: 20 identical messages at once make one task`, async (t) => {
    const subject = await open(t);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => accept(subject, { id: `t${n}`, key: 'm1', text: 'hi' })),
    );
    assert.equal(answers.filter((answer) => answer.kind === 'create').length, 1);
    assert.equal(new Set(answers.map((answer) => answer.record.id)).size, 1);
    assert.deepEqual((await claimOne(subject)).fence.taskId, answers[0]?.record.id);
  });

  test(`${label} accept: a key counts within its owner and its context only, byte by byte`, async (t) => {
    const subject = await open(t);
    const owners = [
      ALICE,
      BOB,
      { ...ALICE, tenant: 'rovo:site-two' },
      { ...ALICE, agent: 'other' },
      { ...ALICE, principal: ALICE.principal.toUpperCase() },
    ];
    for (const [n, owner] of owners.entries()) {
      assert.equal((await accept(subject, { id: `owner-${n}`, owner, key: 'm1', text: 'hi' })).kind, 'create');
    }
    for (const [n, key] of ['M1', 'm1 ', 'e\u0301', '\u00e9'].entries()) {
      assert.equal((await accept(subject, { id: `key-${n}`, key, text: 'hi' })).kind, 'create');
    }
    const elsewhere = { owner: ALICE, key: { contextId: 'c1', messageId: 'm1', fingerprint: 'f' } };
    assert.equal((await peekAccept(subject, elsewhere)).repeat, undefined);
  });

  test(`${label} accept: what decide throws is the rejection, and neither key nor task is left behind`, async (t) => {
    const subject = await open(t);
    const thrown = new RangeError('what decide threw');
    const refused = subject.store.accept(requestFor({ id: 't1', key: 'm1' }), () => {
      throw thrown;
    });
    const neighbour = accept(subject, { id: 't2', key: 'm2', text: 'hi' });
    await assert.rejects(refused, { name: 'RangeError', message: thrown.message });
    assert.equal((await neighbour).record.id, 't2');
    assert.equal((await accept(subject, { id: 't1', key: 'm1', text: 'hi' })).kind, 'create');
  });

  test(`${label} accept: a task and a context of somebody else do not exist`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', contextId: 'c1' });
    const view = await peekAccept(subject, { owner: BOB, taskId: 't1', contextId: 'c1' });
    assert.equal(view.task, undefined);
    assert.equal(view.active, undefined);
    const joined = subject.store.accept({ owner: BOB }, () => ({
      kind: 'continue',
      taskId: 't1',
      answer: 'task',
      change: { messages: [message('let me in')] },
    }));
    await rejectsWith(joined, 'TASK_NOT_FOUND');
    const mine = await accept(subject, { id: 't2', owner: BOB, contextId: 'c1', exclusive: true });
    assert.equal(mine.record.contextId, 'c1');
    assert.deepEqual((await subject.store.read(ALICE, 't1', { artifacts: false }))?.task.history, [message('hello')]);
  });

  test(`${label} accept: the active task is the newest of the context that has not ended`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', contextId: 'c1' });
    await accept(subject, { id: 't2', contextId: 'c1' });
    await accept(subject, { id: 't3', contextId: 'c1' });
    await accept(subject, { id: 'elsewhere', contextId: 'C1' });
    await end(subject, 't3');
    const active = (await peekAccept(subject, { owner: ALICE, contextId: 'c1' })).active;
    assert.equal(active?.record.id, 't2');
    assert.deepEqual(active?.open, [{ ordinal: 1, attempt: 0, leased: false }]);
    await end(subject, 't2');
    await end(subject, 't1');
    assert.equal((await peekAccept(subject, { owner: ALICE, contextId: 'c1' })).active, undefined);
  });

  test(`${label} accept: a second exclusive task of a context is refused as retryable until the first ends`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', contextId: 'c1', exclusive: true });
    await rejectsWith(accept(subject, { id: 't2', contextId: 'c1', exclusive: true }), 'STORE_UNAVAILABLE');
    await accept(subject, { id: 't3', contextId: 'c2', exclusive: true });
    await accept(subject, { id: 't4', contextId: 'c1', owner: BOB, exclusive: true });
    await accept(subject, { id: 't5', contextId: 'c1' });
    await end(subject, 't1');
    assert.equal((await accept(subject, { id: 't6', contextId: 'c1', exclusive: true })).record.id, 't6');
  });

  test(`${label} accept: a task id that is taken is refused as retryable, and the first task stays`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', text: 'first' });
    await rejectsWith(accept(subject, { id: 't1', owner: BOB, text: 'second' }), 'STORE_UNAVAILABLE');
    assert.deepEqual((await subject.store.read(ALICE, 't1', { artifacts: false }))?.task.history, [message('first')]);
  });

  test(`${label} accept: a follow-up writes history, event and outbox of the task it names`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', text: 'one' });
    subject.notified();
    const continued = await subject.store.accept(
      { owner: ALICE, taskId: 't1', key: { contextId: '', messageId: 'm2', fingerprint: 'f2' } },
      (view) => {
        assert(view.task);
        return { kind: 'continue', taskId: 't1', answer: 'message', change: followUp(view.task, 'two') };
      },
    );
    assert.equal(continued.kind, 'continue');
    assert.equal(continued.sequence, 2);
    assert.equal(continued.record.messages, 2);
    assert.deepEqual(new Set(subject.notified()), new Set(['task:t1', 'turn:t1', 'work']));
    const { repeat } = await peekAccept(subject, requestFor({ id: 'x', key: 'm2' }));
    assert.equal(repeat?.taskId, 't1');
    assert.equal(repeat?.sequence, 2);
    assert.equal(repeat?.answer, 'message');
    const read = await subject.store.read(ALICE, 't1', { artifacts: false });
    assert.deepEqual(read?.task.history, [message('one'), message('two')]);
  });

  test(`${label} accept: the view says how many bytes of the task wait and how many there are`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', text: 'öne' });
    await say(subject, 't1', 'two');
    const bytes = (text: string) => Buffer.byteLength(JSON.stringify(message(text)));
    const both = bytes('öne') + bytes('two');
    const volume = async () => (await peekAccept(subject, { owner: ALICE, taskId: 't1' })).task?.volume;
    assert.deepEqual(await volume(), { inbox: both, history: both });
    await subject.store.update({ taskId: 't1' }, () => ({ executions: [{ close: 1, outcome: 'done' }] }));
    assert.deepEqual(await volume(), { inbox: bytes('two'), history: both });
  });

  test(`${label} accept: a message to a finished task is never stored`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    await end(subject, 't1');
    const late = subject.store.accept({ owner: ALICE, taskId: 't1' }, (view) => {
      assert(view.task);
      return { kind: 'continue', taskId: 't1', answer: 'task', change: followUp(view.task, 'late') };
    });
    await rejectsWith(late, 'INTERNAL');
    await rejectsWith(say(subject, 't1', 'later'), 'INTERNAL');
    assert.deepEqual(await sequences(subject, 't1'), [1, 2]);
  });

  test(`${label} accept: the tenant's status is part of the view`, async (t) => {
    const subject = await open(t);
    assert.equal((await peekAccept(subject, { owner: ALICE })).tenant, 'active');
    await subject.tenants.put(ALICE.tenant, {});
    assert.equal((await peekAccept(subject, { owner: ALICE })).tenant, 'active');
    await subject.tenants.remove(ALICE.tenant);
    assert.equal((await peekAccept(subject, { owner: ALICE })).tenant, 'removed');
  });

  test(`${label} accept: no text and no JSON value is changed on its way through the store`, async (t) => {
    const subject = await open(t);
    const parts: readonly Part[] = [
      { text: 'nul \u0000 separators \u2028\u2029\u0085 emoji \u{1F469}\u200D\u{1F680} half \uD83D' },
      { data: null },
      { data: { deep: [1, -0.5, 1e21, true, null, { '': '' }] }, mediaType: 'application/json' },
      { raw: 'AAECAw==', filename: 'a.bin' },
      { text: '' },
    ];
    await accept(subject, { id: 't1', change: { messages: [{ messageId: 'm', role: 'ROLE_USER', parts }] } });
    const read = await subject.store.read(ALICE, 't1', { artifacts: false });
    assert.deepEqual(read?.task.history?.[0]?.parts, parts);
  });
}
