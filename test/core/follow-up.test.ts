import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDomainError } from '../../core/errors.ts';
import { textOf } from '../../core/message.ts';
import type { Agent } from '../../core/ports/agent.ts';
import { A2A, collect, createClient, historyTexts, ROVO, statesOf, statusText } from '../support/client.ts';
import { untilSlotIsFree } from '../support/free-slots.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createCore } from '../support/service.ts';
import { createGate, until } from '../support/until.ts';

/** Asks once, then answers with what it was told. */
const asking: Agent['run'] = async function* ({ task, message }) {
  const said = textOf(message.parts);
  if (task.history?.length === 1) yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'Which one?' };
  else yield { state: 'TASK_STATE_COMPLETED', message: `Took ${said}` };
};

describe('a follow-up to INPUT_REQUIRED', () => {
  for (const profile of [A2A, ROVO]) {
    it(`${profile.name}: the old question is never the answer`, async (t) => {
      const client = createClient(await createCore(t, { agent: asking }), { profile });
      const asked = await client.send('start', { contextId: 'c1' });
      assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED');
      const names = profile === A2A ? { taskId: asked.id } : { contextId: 'c1' };
      const answered = await client.send('the second', names);
      assert.equal(answered.id, asked.id);
      assert.equal(statusText(answered), 'Took the second');
      assert.deepEqual(historyTexts(answered), ['start', 'Which one?', 'the second']);
    });
  }

  for (const recovery of ['rerun', 'review'] as const) {
    it(`${recovery}: that comes into the group in which its turn begins is heard at once`, async (t) => {
      const agent: Agent = {
        recovery,
        async *run({ inbox, signal }) {
          await until('the second', () => signal.aborted || inbox()[0]);
          yield { state: 'TASK_STATE_COMPLETED' };
        },
      };
      // Time stands still, so no heartbeat finds what was missed.
      const core = await createCore(t, { agent, clock: createManualClock() });
      if (recovery === 'rerun') await untilSlotIsFree(core.runner);
      const client = createClient(core, { profile: ROVO });
      const first = client.start('one', { contextId: 'c1' });
      // Accepted in one group with the first, or in one with its claim.
      if (recovery === 'review') await first;
      await client.start('two', { contextId: 'c1' });
      assert.equal((await client.settled((await first).id)).status.state, 'TASK_STATE_COMPLETED');
    });
  }

  it('streaming: begins with the task at work, never with the question', async (t) => {
    const client = createClient(await createCore(t, { agent: asking }));
    const first = await collect(await client.stream('start', { messageId: 'm1' }));
    assert.deepEqual(statesOf(first), ['Task SUBMITTED', 'WORKING', 'INPUT_REQUIRED']);
    const { id: taskId } = await client.start('start', { messageId: 'm1' });
    const second = statesOf(await collect(await client.stream('this', { taskId })));
    assert.match(second[0] ?? '', /^Task (WORKING|COMPLETED)$/);
    assert.match(second.at(-1) ?? '', /COMPLETED$/);
  });

  it('the same answer twice is once in the history and one run', async (t) => {
    let runs = 0;
    const core = await createCore(t, {
      agent: async function* (turn) {
        runs += 1;
        yield* asking(turn);
      },
    });
    const client = createClient(core);
    const { id: taskId } = await client.send('start');
    const answers = await Promise.all([1, 2, 3].map(() => client.send('this', { taskId, messageId: 'm2' })));
    for (const answer of answers) assert.deepEqual(historyTexts(answer), ['start', 'Which one?', 'this']);
    assert.equal(runs, 2);
  });

  it('a refused message leaves no trace, not even its id', async (t) => {
    const client = createClient(await createCore(t, { agent: asking }));
    const asked = await client.send('start');
    await assert.rejects(client.send('x', { taskId: asked.id, contextId: 'wrong', messageId: 'm3' }), (error) =>
      isDomainError(error, 'INVALID_PARAMS'),
    );
    assert.deepEqual(await client.get(asked.id), asked);
    const answered = await client.send('y', { taskId: asked.id, contextId: asked.contextId, messageId: 'm3' });
    assert.equal(statusText(answered), 'Took y');
    await assert.rejects(client.send('z', { taskId: asked.id }), (error) =>
      isDomainError(error, 'UNSUPPORTED_OPERATION'),
    );
    assert.deepEqual(await client.get(asked.id), answered);
  });

  it('an unknown task makes nothing', async (t) => {
    const core = await createCore(t, { agent: asking });
    const client = createClient(core);
    await assert.rejects(client.send('x', { taskId: 'nope' }), (error) => isDomainError(error, 'TASK_NOT_FOUND'));
    const { totalSize } = await core.operations.listTasks(client.caller, {
      filter: {},
      pageSize: 5,
      includeArtifacts: false,
    });
    assert.equal(totalSize, 0);
  });
});

describe('a message to a running task', () => {
  it('comes through the inbox, once, and the turn that took it answers it', async (t) => {
    const asked = createGate();
    const taken: string[][] = [];
    const core = await createCore(t, {
      agent: async function* ({ inbox }) {
        yield { state: 'TASK_STATE_WORKING', message: 'at it' };
        await asked.opened;
        for (let rounds = 0; rounds < 3; rounds += 1) {
          yield { state: 'TASK_STATE_WORKING', message: `round ${rounds}` };
          taken.push(inbox().map((message) => textOf(message.parts)));
        }
        yield { state: 'TASK_STATE_COMPLETED', message: taken.flat().join() };
      },
    });
    const client = createClient(core);
    const { id: taskId } = await client.start('start');
    await client.start('and this', { taskId });
    await client.start('and that', { taskId });
    asked.open();
    const task = await client.settled(taskId);
    assert.equal(statusText(task), 'and this,and that');
    assert.deepEqual(historyTexts(task), ['start', 'and this', 'and that']);
    assert.deepEqual(taken, [['and this', 'and that'], [], []]);
  });

  it('is read from the store once, however often the turn commits', async (t) => {
    const [asked, done] = [createGate(), createGate()];
    const core = await createCore(t, {
      agent: async function* ({ inbox }) {
        await asked.opened;
        for (let rounds = 0; rounds < 3; rounds += 1) yield { state: 'TASK_STATE_WORKING', message: `round ${rounds}` };
        await done.opened;
        yield { state: 'TASK_STATE_COMPLETED', message: inbox().length.toString() };
      },
    });
    const read: number[] = [];
    const { update } = core.store;
    t.mock.method(core.store, 'update', async (...args: Parameters<typeof update>) => {
      const updated = await update(...args);
      read.push(...updated.pending.map(({ ordinal }) => ordinal));
      return updated;
    });
    const client = createClient(core);
    const { id: taskId } = await client.start('start');
    await client.start('two', { taskId });
    await client.start('three', { taskId });
    asked.open();
    await until('the third round', async () => statusText(await client.get(taskId)) === 'round 2');
    done.open();
    assert.equal(statusText(await client.settled(taskId)), '2');
    assert.deepEqual([...new Set(read)], read);
  });

  it('reaches an agent that yields nothing meanwhile', async (t) => {
    const core = await createCore(t, {
      agent: async function* ({ inbox }) {
        const message = await until('a message in the inbox', () => inbox()[0]);
        yield { state: 'TASK_STATE_COMPLETED', message: `Got ${textOf(message.parts)}` };
      },
    });
    const client = createClient(core);
    const { id: taskId } = await client.start('start');
    await until('it runs', () => core.runner.running === 1);
    await client.start('wake up', { taskId });
    assert.equal(statusText(await client.settled(taskId)), 'Got wake up');
  });

  it('that was taken stays taken when more arrive before the next commit', async (t) => {
    const [first, second] = [createGate(), createGate()];
    const turns: string[] = [];
    const core = await createCore(t, {
      agent: async function* ({ message, inbox }) {
        turns.push(textOf(message.parts));
        const one = await until('the first message', () => inbox()[0]);
        first.open();
        await second.opened;
        const two = await until('the second message', () => inbox()[0]);
        yield { state: 'TASK_STATE_COMPLETED', message: [one, two].map((each) => textOf(each.parts)).join() };
      },
    });
    const client = createClient(core);
    const { id: taskId } = await client.start('start');
    await until('it runs', () => core.runner.running === 1);
    await client.start('one', { taskId });
    await first.opened;
    await client.start('two', { taskId });
    second.open();
    const task = await client.settled(taskId);
    assert.equal(statusText(task), 'one,two');
    assert.deepEqual(turns, ['start'], 'no message starts a turn of its own after it was taken');
  });

  it('that nobody took starts the next turn: COMPLETED is WORKING until it is answered', async (t) => {
    const gate = createGate();
    const turns: string[] = [];
    const core = await createCore(t, {
      agent: async function* ({ message, task }) {
        const text = textOf(message.parts);
        turns.push(`${text} after ${(task.history ?? []).length}`);
        if (text === 'start') await gate.opened;
        yield { state: 'TASK_STATE_COMPLETED', message: `Answer to ${text}` };
      },
    });
    const client = createClient(core);
    const stream = collect(await client.stream('start', { messageId: 'm1' }));
    const { id: taskId } = await client.start('start', { messageId: 'm1' });
    await until('it runs', () => turns.length === 1);
    await client.start('more', { taskId });
    gate.open();
    const task = await client.settled(taskId);
    assert.equal(statusText(task), 'Answer to more');
    assert.deepEqual(historyTexts(task), ['start', 'more', 'Answer to start']);
    assert.deepEqual(turns, ['start after 1', 'more after 3']);
    const texts = (await stream).flatMap(({ body }) =>
      'statusUpdate' in body
        ? [`${body.statusUpdate.status.state} ${statusText({ ...task, ...body.statusUpdate })}`]
        : [],
    );
    assert.ok(texts.includes('TASK_STATE_WORKING Answer to start'));
    assert.equal(texts.at(-1), 'TASK_STATE_COMPLETED Answer to more');
    assert.equal(texts.filter((text) => text.startsWith('TASK_STATE_COMPLETED')).length, 1);
  });

  it('that nobody took dies with a task that failed', async (t) => {
    const gate = createGate();
    const turns: string[] = [];
    const core = await createCore(t, {
      agent: async function* ({ message }) {
        turns.push(textOf(message.parts));
        await gate.opened;
        yield { state: 'TASK_STATE_FAILED', message: 'No.' };
      },
    });
    const client = createClient(core);
    const { id: taskId } = await client.start('start');
    await until('it runs', () => turns.length === 1);
    await client.start('more', { taskId });
    gate.open();
    assert.equal((await client.settled(taskId)).status.state, 'TASK_STATE_FAILED');
    assert.deepEqual(await core.store.backlog(), { waiting: 0, leased: 0, oldestMs: 0 });
    assert.deepEqual(turns, ['start']);
  });
});

describe('a context', () => {
  it('Rovo: one active task; after its end the next message starts a new task beside it', async (t) => {
    const client = createClient(await createCore(t, { agent: asking }), { profile: ROVO });
    const first = await client.send('start', { contextId: 'c1' });
    await client.send('this', { contextId: 'c1' });
    const second = await client.send('again', { contextId: 'c1', taskId: first.id });
    assert.notEqual(second.id, first.id);
    assert.equal(second.contextId, 'c1');
    assert.equal(second.status.state, 'TASK_STATE_INPUT_REQUIRED');
  });

  it('A2A: every message without a task is a task of its own [3.4.2-unique]', async (t) => {
    const client = createClient(await createCore(t, { agent: asking }));
    const [one, two] = await Promise.all(['a', 'b'].map((text) => client.send(text, { contextId: 'c1' })));
    assert.notEqual(one?.id, two?.id);
    assert.equal(one?.contextId, two?.contextId);
  });

  it('earlier() shows the caller’s other tasks of it: newest first, with history and status, without artifacts [3.4.1-session, 3.4.3-context]', async (t) => {
    const seen: string[] = [];
    const core = await createCore(t, {
      agent: async function* ({ message, earlier }) {
        const tasks = await earlier(2);
        seen.push(tasks.map((task) => `${historyTexts(task).join()}=${statusText(task)}`).join(' '));
        assert.ok(tasks.every((task) => !task.artifacts));
        const text = textOf(message.parts);
        yield { artifact: { artifactId: 'a', parts: [{ text }] } };
        yield { state: 'TASK_STATE_COMPLETED', message: text.toUpperCase() };
      },
    });
    const client = createClient(core);
    for (const text of ['a', 'b', 'c', 'd']) await client.send(text, { contextId: 'c1' });
    await client.send('elsewhere', { contextId: 'c2' });
    await createClient(core, { caller: core.caller('bob') }).send('mine', { contextId: 'c1' });
    assert.deepEqual(seen, ['', 'a=A', 'b=B a=A', 'c=C b=B', '', '']);
  });

  it('earlier() begins with the tasks that the message refers to, wherever they are, and passes over the rest [3.4.3-references]', async (t) => {
    let seen: readonly string[] = [];
    const core = await createCore(t, {
      agent: async function* ({ message, earlier }) {
        const tasks = await earlier(textOf(message.parts) === 'few' ? 2 : undefined);
        seen = tasks.map((task) => `${historyTexts(task).join()}=${statusText(task)}`);
        assert.ok(tasks.every((task) => !task.artifacts));
        yield { artifact: { artifactId: 'a', parts: [{ text: 'x' }] } };
        yield { state: 'TASK_STATE_COMPLETED', message: textOf(message.parts).toUpperCase() };
      },
    });
    const client = createClient(core);
    const ids: string[] = [];
    for (const [text, contextId] of ['ac1', 'bc1', 'cc2', 'dc2'].map((each) => [each.slice(0, 1), each.slice(1)])) {
      ids.push((await client.send(text ?? '', contextId === undefined ? {} : { contextId })).id);
    }
    const [a = '', b = '', c = ''] = ids;
    const bobs = await createClient(core, { caller: core.caller('bob') }).send('hidden', { contextId: 'c1' });
    const referenceTaskIds = [c, bobs.id, 'nowhere', a, c];
    await client.send('all', { contextId: 'c1', referenceTaskIds });
    assert.deepEqual(seen, ['c=C', 'a=A', 'b=B']);
    await client.send('few', { contextId: 'c3', referenceTaskIds: [b, c, a] });
    assert.deepEqual(seen, ['b=B', 'c=C'], 'no more than were asked for');
    const { id: taskId } = await client.send('own', { contextId: 'c4', referenceTaskIds: [bobs.id] });
    assert.deepEqual(seen, [], 'somebody else’s is none');
    assert.deepEqual((await client.get(taskId)).history?.[0]?.referenceTaskIds, [bobs.id], 'as it was sent');
  });
});
