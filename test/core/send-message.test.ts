import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDomainError } from '../../core/errors.ts';
import { textOf } from '../../core/message.ts';
import type { Agent } from '../../core/ports/agent.ts';
import { A2A, collect, createClient, historyTexts, ROVO, statesOf, statusText } from '../support/client.ts';
import { createCore } from '../support/service.ts';
import { createGate, until } from '../support/until.ts';

/** Answers with what it was asked, in an artifact and in words, and counts its runs. */
function echo(): { readonly run: Agent['run']; runs: number } {
  const agent = {
    runs: 0,
    run: async function* ({ message }: Parameters<Agent['run']>[0]): ReturnType<Agent['run']> {
      agent.runs += 1;
      const text = textOf(message.parts);
      yield { artifact: { artifactId: 'echo', parts: [{ text }] } };
      yield { state: 'TASK_STATE_COMPLETED', message: `You said: ${text}` };
    } as Agent['run'],
  };
  return agent;
}

describe('SendMessage', () => {
  it('blocking: answers the finished task with history and artifact [3.2.2-blocking]', async (t) => {
    const client = createClient(await createCore(t, { agent: echo().run }));
    const task = await client.send('hi');
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(statusText(task), 'You said: hi');
    assert.deepEqual(historyTexts(task), ['hi']);
    assert.deepEqual(task.artifacts, [{ artifactId: 'echo', parts: [{ text: 'hi' }] }]);
    assert.deepEqual(await client.get(task.id), task);
  });

  it('returnImmediately: answers before the agent is done [3.2.2-immediately]', async (t) => {
    const gate = createGate();
    const core = await createCore(t, {
      agent: async function* () {
        await gate.opened;
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core);
    const task = await client.start('hi');
    assert.match(task.status.state, /SUBMITTED|WORKING/);
    gate.open();
    assert.equal((await client.settled(task.id)).status.state, 'TASK_STATE_COMPLETED');
  });

  it('blocking: the wait ends before the work, which goes on', async (t) => {
    const gate = createGate();
    const core = await createCore(t, {
      agent: async function* () {
        yield { state: 'TASK_STATE_WORKING', message: 'half way' };
        await gate.opened;
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core, { profile: { ...A2A, waitMs: 60 } });
    const task = await client.send('long');
    assert.equal(task.status.state, 'TASK_STATE_WORKING');
    assert.equal(statusText(task), 'half way');
    gate.open();
    assert.equal((await client.settled(task.id)).status.state, 'TASK_STATE_COMPLETED');
  });

  it('blocking: a client that leaves gets the task as it is, and the task goes on', async (t) => {
    const gate = createGate();
    const core = await createCore(t, {
      agent: async function* () {
        await gate.opened;
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core);
    const leaving = new AbortController();
    const answer = client.send('hi', { signal: leaving.signal });
    leaving.abort();
    const task = await answer;
    assert.match(task.status.state, /SUBMITTED|WORKING/);
    gate.open();
    assert.equal((await client.settled(task.id)).status.state, 'TASK_STATE_COMPLETED');
  });

  it('a repeat is the same task and runs nothing, finished or not', async (t) => {
    const agent = echo();
    const client = createClient(await createCore(t, { agent: agent.run }));
    const started = await client.start('hi', { messageId: 'm1' });
    const joined = await client.send('hi', { messageId: 'm1' });
    assert.equal(joined.id, started.id);
    assert.equal(joined.status.state, 'TASK_STATE_COMPLETED', 'a blocking repeat joins the wait');
    assert.deepEqual(await client.send('hi', { messageId: 'm1' }), joined);
    assert.equal(agent.runs, 1);
    assert.deepEqual(historyTexts(joined), ['hi']);
  });

  it('the same id with other content is a conflict; the first task is untouched', async (t) => {
    const agent = echo();
    const client = createClient(await createCore(t, { agent: agent.run }));
    const task = await client.send('hi', { messageId: 'm1' });
    await assert.rejects(client.send('other', { messageId: 'm1' }), (error) =>
      isDomainError(error, 'MESSAGE_ID_CONFLICT'),
    );
    assert.deepEqual(await client.get(task.id), task);
    assert.equal(agent.runs, 1);
  });

  it('a message without a key is never a repeat', async (t) => {
    const client = createClient(await createCore(t, { agent: echo().run }));
    const [one, two] = [await client.send('hi', { messageId: null }), await client.send('hi', { messageId: null })];
    assert.notEqual(one.id, two.id);
  });

  for (const profile of [A2A, ROVO]) {
    it(`${profile.name}: 20 identical sends at once over two processes: one task, one run`, async (t) => {
      const agent = echo();
      const core = await createCore(t, { agent: agent.run });
      const other = await createCore(t, { agent: agent.run, path: core.path });
      const clients = [createClient(core, { profile }), createClient(other, { profile })];
      const tasks = await Promise.all(
        Array.from({ length: 20 }, (_, index) => clients[index % 2]?.send('hi', { messageId: 'm1', contextId: 'c1' })),
      );
      assert.equal(new Set(tasks.map((task) => task?.id)).size, 1);
      assert.equal(agent.runs, 1);
      for (const task of tasks) assert.equal(task?.status.state, 'TASK_STATE_COMPLETED');
      assert.deepEqual(historyTexts(tasks[0] ?? assert.fail()), ['hi']);
    });
  }

  it('two different messages at once into one context of a single-active-task edge: one task takes both', async (t) => {
    const gate = createGate();
    const core = await createCore(t, {
      agent: async function* () {
        await gate.opened;
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core, { profile: ROVO });
    const tasks = await Promise.all(['a', 'b', 'c'].map((text) => client.start(text, { contextId: 'c1' })));
    assert.equal(new Set(tasks.map((task) => task.id)).size, 1);
    gate.open();
    const task = await client.settled(tasks[0]?.id ?? '');
    assert.deepEqual([...historyTexts(task)].sort(), ['a', 'b', 'c']);
  });

  it('historyLength trims the answer, not the store [3.1.3-history, 3.2.2-history, 3.2.4-none]', async (t) => {
    const core = await createCore(t, {
      agent: async function* ({ task }) {
        const asked = (task.history ?? []).length;
        yield { state: asked < 5 ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_COMPLETED', message: `q${asked}` };
      },
    });
    const client = createClient(core);
    const { id: taskId } = await client.send('1');
    await client.send('2', { taskId });
    const last = await client.send('3', { taskId, historyLength: 1 });
    assert.deepEqual(historyTexts(last), ['3']);
    assert.equal('history' in (await client.get(taskId, 0)), false);
    assert.deepEqual(historyTexts(await client.get(taskId, 2)), ['q3', '3']);
    assert.deepEqual(historyTexts(await client.get(taskId)), ['1', 'q1', '2', 'q3', '3']);
  });
});

describe('SendStreamingMessage', () => {
  it('starts with the Task, then brings every update in order, and ends [3.1.2-task-first, 3.1.2-ends]', async (t) => {
    for (const profile of [A2A, ROVO]) {
      const client = createClient(await createCore(t, { agent: echo().run }), { profile });
      const frames = await collect(await client.stream('hi'));
      assert.deepEqual(statesOf(frames), ['Task SUBMITTED', 'WORKING', 'artifact', 'COMPLETED']);
      assert.deepEqual(
        frames.map((frame) => frame.sequence),
        [1, 2, 3, 4],
      );
    }
  });

  it('is refused before there is a stream', async (t) => {
    const client = createClient(await createCore(t, { agent: echo().run }));
    await assert.rejects(client.stream('hi', { taskId: 'nobody' }), (error) => isDomainError(error, 'TASK_NOT_FOUND'));
    await client.send('hi', { messageId: 'm1' });
    await assert.rejects(client.stream('x', { messageId: 'm1' }), (error) =>
      isDomainError(error, 'MESSAGE_ID_CONFLICT'),
    );
  });

  it('a repeat joins the running stream with a snapshot, and a finished one with its end', async (t) => {
    const gate = createGate();
    const core = await createCore(t, {
      agent: async function* () {
        yield { artifact: { artifactId: 'a', parts: [{ text: 'one' }] } };
        yield { state: 'TASK_STATE_WORKING', message: 'half way' };
        await gate.opened;
        yield { artifact: { artifactId: 'a', parts: [{ text: ' two' }] }, append: true };
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core);
    const first = collect(await client.stream('hi', { messageId: 'm1' }));
    const { id } = await client.start('hi', { messageId: 'm1' });
    await until('half way', async () => statusText(await client.get(id)) === 'half way');
    const second = collect(await client.stream('hi', { messageId: 'm1' }));
    gate.open();
    assert.deepEqual(statesOf(await second), ['Task WORKING', 'artifact', 'COMPLETED']);
    assert.equal(statesOf(await first).at(-1), 'COMPLETED');
    const third = await collect(await client.stream('hi', { messageId: 'm1' }));
    assert.deepEqual(statesOf(third), ['Task COMPLETED']);
  });

  it('a client that leaves after the first frame: the task completes and keeps the whole artifact', async (t) => {
    const gate = createGate();
    const core = await createCore(t, {
      agent: async function* () {
        yield { artifact: { artifactId: 'a', parts: [{ text: 'one' }] } };
        await gate.opened;
        yield { artifact: { artifactId: 'a', parts: [{ text: ' two' }] }, append: true };
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core, { profile: ROVO });
    const leaving = new AbortController();
    let taskId = '';
    for await (const { body } of await client.stream('hi', { signal: leaving.signal })) {
      if ('task' in body) taskId = body.task.id;
      leaving.abort();
      break;
    }
    gate.open();
    const task = await client.settled(taskId);
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(textOf(task.artifacts?.[0]?.parts ?? []), 'one two');
  });

  it('a stream that its signal ends is over, the task goes on', async (t) => {
    const gate = createGate();
    const core = await createCore(t, {
      agent: async function* () {
        await gate.opened;
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core, { profile: ROVO });
    const deadline = new AbortController();
    const frames: string[] = [];
    const { id } = await client.start('hi', { messageId: 'm1' });
    for await (const frame of await client.stream('hi', { messageId: 'm1', signal: deadline.signal })) {
      frames.push(...statesOf([frame]));
      setImmediate(() => deadline.abort());
    }
    assert.match(frames.join(), /^Task (SUBMITTED|WORKING)/);
    gate.open();
    assert.equal((await client.settled(id)).status.state, 'TASK_STATE_COMPLETED');
  });
});
