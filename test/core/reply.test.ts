import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIMITS } from '../../core/limits.ts';
import type { Agent } from '../../core/ports/agent.ts';
import { collect, createClient, ROVO, shortState, statesOf, statusText } from '../support/client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createCore } from '../support/service.ts';
import { advanceUntil, createGate, until } from '../support/until.ts';

const replying: Agent['run'] = async function* () {
  yield { reply: 'Hello back' };
};

describe('a reply', () => {
  it('blocking: the answer is a Message that names the stored, completed task [3.1.1-answer, 4.1.4-agent-context]', async (t) => {
    const client = createClient(await createCore(t, { agent: replying }));
    const answer = await client.answer('hi', { messageId: 'm1' });
    assert.ok('message' in answer);
    assert.equal(answer.message.role, 'ROLE_AGENT');
    assert.deepEqual(answer.message.parts, [{ text: 'Hello back' }]);
    const task = await client.get(answer.message.taskId ?? '');
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(task.contextId, answer.message.contextId);
    assert.deepEqual(task.status.message, answer.message);
    assert.deepEqual(await client.answer('hi', { messageId: 'm1' }), answer, 'a repeat answers that Message');
  });

  it('streaming: exactly one Message, then the end, and a repeat streams it again', async (t) => {
    const client = createClient(await createCore(t, { agent: replying }));
    const frames = await collect(await client.stream('hi', { messageId: 'm1' }));
    assert.deepEqual(statesOf(frames), ['Message']);
    const again = await collect(await client.stream('hi', { messageId: 'm1' }));
    assert.deepEqual(again, frames);
  });

  it('returnImmediately: a task, also to the repeat that waits', async (t) => {
    const client = createClient(await createCore(t, { agent: replying }));
    const { id } = await client.start('hi', { messageId: 'm1' });
    await client.settled(id);
    const repeat = await client.answer('hi', { messageId: 'm1' });
    assert.equal('task' in repeat && shortState(repeat.task.status.state), 'COMPLETED');
  });

  it('on an edge without Message answers it is a COMPLETED status', async (t) => {
    const client = createClient(await createCore(t, { agent: replying }), { profile: ROVO });
    assert.equal(statusText(await client.send('hi')), 'Hello back');
    assert.deepEqual(statesOf(await collect(await client.stream('hi'))), ['Task SUBMITTED', 'WORKING', 'COMPLETED']);
  });

  it('after another update is a COMPLETED status', async (t) => {
    const core = await createCore(t, {
      agent: async function* () {
        yield { state: 'TASK_STATE_WORKING', message: 'on it' };
        yield { reply: 'Hello back' };
      },
    });
    const client = createClient(core);
    assert.equal(statusText(await client.send('hi')), 'Hello back');
    assert.equal(statesOf(await collect(await client.stream('hi'))).at(-1), 'COMPLETED');
  });

  it('of 200 kB goes out in one frame that fits, and GetTask has all of it', async (t) => {
    const text = 'é\u0001'.repeat(100_000);
    const core = await createCore(t, {
      agent: async function* () {
        yield { reply: text };
      },
    });
    const client = createClient(core);
    const [frame] = await collect(await client.stream('hi'));
    assert.ok(frame && 'message' in frame.body);
    assert.ok(JSON.stringify(frame.body).length <= LIMITS.frameChars);
    assert.equal(statusText(await client.get(frame.body.message.taskId ?? '')), text);
  });
});

describe('the first frame of a stream that may be a Message', () => {
  it('is a Task after two seconds when the agent has said nothing', async (t) => {
    const clock = createManualClock();
    const gate = createGate();
    const core = await createCore(t, {
      clock,
      agent: async function* () {
        await gate.opened;
        yield { reply: 'late' };
      },
    });
    const stream = (await createClient(core).stream('hi'))[Symbol.asyncIterator]();
    const began = clock.now();
    let first: string | undefined;
    void stream.next().then(({ value }) => {
      first = statesOf([value]).join();
    });
    await until('it runs', () => core.runner.running === 1);
    clock.advance(LIMITS.firstUpdateMs - 1);
    for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(first, undefined);
    await advanceUntil(clock, 'the first frame', () => first);
    assert.equal(first, 'Task SUBMITTED');
    assert.ok(clock.now() - began < LIMITS.firstUpdateMs + 500);
    gate.open();
    const rest = await collect({ [Symbol.asyncIterator]: () => stream });
    assert.deepEqual(statesOf(rest), ['WORKING', 'COMPLETED'], 'after a Task the answer is that task');
    assert.deepEqual(
      rest.map((frame) => frame.sequence),
      [2, 3],
    );
  });

  for (const said of [{ message: 'on it' }, {}]) {
    it(`is a Task at once when the agent says ${said.message ? 'something else' : 'only that it works'} [3.1.2-progress]`, async (t) => {
      const gate = createGate();
      const core = await createCore(t, {
        clock: createManualClock(),
        agent: async function* () {
          yield { state: 'TASK_STATE_WORKING', ...said };
          await gate.opened;
          yield { state: 'TASK_STATE_COMPLETED' };
        },
      });
      const stream = (await createClient(core).stream('hi'))[Symbol.asyncIterator]();
      const frames = [await stream.next(), await stream.next(), await stream.next()].map(({ value }) => value);
      assert.deepEqual(statesOf(frames), ['Task SUBMITTED', 'WORKING', 'WORKING']);
      gate.open();
      assert.deepEqual(statesOf(await collect({ [Symbol.asyncIterator]: () => stream })), ['COMPLETED']);
    });
  }

  it('is a Task before a question, which ends the stream', async (t) => {
    const core = await createCore(t, {
      clock: createManualClock(),
      agent: async function* () {
        yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'Which?' };
      },
    });
    const frames = await collect(await createClient(core).stream('hi'));
    assert.deepEqual(statesOf(frames), ['Task SUBMITTED', 'WORKING', 'INPUT_REQUIRED']);
  });
});
