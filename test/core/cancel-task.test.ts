import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDomainError } from '../../core/errors.ts';
import { isTerminal } from '../../core/task.ts';
import { collect, createClient, ROVO, statesOf } from '../support/client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createCore } from '../support/service.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { createGate, never, until } from '../support/until.ts';

describe('CancelTask', () => {
  it('a queued task is never started', async (t) => {
    const gate = createGate();
    const started: string[] = [];
    const core = await createCore(t, {
      concurrency: 1,
      agent: async function* ({ task }) {
        started.push(task.id);
        await gate.opened;
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core);
    const running = await client.start('first');
    await until('the first runs', () => started.length === 1);
    const queued = await client.start('second');
    assert.equal((await client.cancel(queued.id)).status.state, 'TASK_STATE_CANCELED');
    const third = await client.start('third');
    gate.open();
    await client.settled(third.id);
    assert.deepEqual(started, [running.id, third.id]);
    assert.equal((await client.get(queued.id)).status.state, 'TASK_STATE_CANCELED');
  });

  it('a running agent is told at once, and what it yields later is refused', async (t) => {
    const clock = createManualClock();
    const [told, late] = [createGate(), createGate()];
    const core = await createCore(t, {
      clock,
      agent: async function* ({ signal }) {
        yield { artifact: { artifactId: 'a', parts: [{ text: 'kept' }] }, lastChunk: true };
        signal.addEventListener('abort', () => told.open());
        await late.opened;
        yield { artifact: { artifactId: 'a', parts: [{ text: 'late' }] } };
        yield { state: 'TASK_STATE_COMPLETED', message: 'late' };
      },
    });
    const client = createClient(core);
    const stream = collect(await client.stream('start', { messageId: 'm1' }));
    const { id } = await client.start('start', { messageId: 'm1' });
    await until('the artifact is there', async () => (await client.get(id)).artifacts?.length === 1);
    const canceled = await client.cancel(id);
    assert.equal(canceled.status.state, 'TASK_STATE_CANCELED');
    await told.opened;
    late.open();
    await until('the slot is free', () => core.runner.running === 0);
    assert.deepEqual(await client.get(id), canceled);
    assert.equal(canceled.artifacts?.[0]?.parts.length, 1);
    assert.equal(statesOf(await stream).at(-1), 'CANCELED');
  });

  it('an agent that catches the abort and goes on cannot write', async (t) => {
    const clock = createManualClock();
    const refused: unknown[] = [];
    const core = await createCore(t, {
      clock,
      agent: async function* ({ signal, step }) {
        yield { state: 'TASK_STATE_WORKING', message: 'on it' };
        await until('the abort', () => signal.aborted);
        await step('effect', async () => 'done').catch((error: unknown) => refused.push(error));
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core);
    const { id } = await client.start('start');
    await until('it runs', async () => (await client.get(id)).status.message !== undefined);
    await client.cancel(id);
    await until('the step was refused', () => refused.length === 1);
    assert.ok(isDomainError(refused[0], 'LEASE_LOST'));
    assert.equal((await client.get(id)).status.state, 'TASK_STATE_CANCELED');
  });

  it('an agent that ignores everything loses its slot after five seconds', async (t) => {
    const clock = createManualClock();
    const events: string[] = [];
    const core = await createCore(t, {
      clock,
      concurrency: 1,
      telemetry: { ...silentTelemetry, event: (_level, name) => events.push(name) },
      agent: async function* ({ message }) {
        if (message.parts.some((part) => 'text' in part && part.text === 'hang')) await never();
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core);
    const { id } = await client.start('hang');
    await until('it runs', () => core.runner.running === 1);
    await client.cancel(id);
    const next = await client.start('next');
    await until('the agent was asked to leave', () => events.includes('task.canceled'));
    clock.advance(4_000);
    assert.match((await client.get(next.id)).status.state, /SUBMITTED/);
    await until('the next one runs', async () => {
      clock.advance(250);
      return isTerminal((await client.get(next.id)).status.state);
    });
    assert.ok(events.includes('agent.left_over'));
  });

  it('a parked task is canceled, and a canceled one stays so', async (t) => {
    const core = await createCore(t, {
      agent: async function* () {
        yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'Which?' };
      },
    });
    const client = createClient(core);
    const { id } = await client.send('start');
    const canceled = await client.cancel(id);
    assert.equal(canceled.status.state, 'TASK_STATE_CANCELED');
    assert.deepEqual(await client.cancel(id), canceled);
    await assert.rejects(client.send('answer', { taskId: id }), (error) =>
      isDomainError(error, 'UNSUPPORTED_OPERATION'),
    );
  });

  it('ten cancels at once: all answer the one canceled task, the agent is stopped once', async (t) => {
    let aborts = 0;
    const core = await createCore(t, {
      agent: async function* ({ signal }) {
        yield { state: 'TASK_STATE_WORKING', message: 'on it' };
        signal.addEventListener('abort', () => {
          aborts += 1;
        });
        await until('the abort', () => signal.aborted);
      },
    });
    const client = createClient(core);
    const { id } = await client.start('start');
    await until('it runs', async () => (await client.get(id)).status.message !== undefined);
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.cancel(id)));
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
    await until('the slot is free', () => core.runner.running === 0);
    assert.equal(aborts, 1);
    const frames = await collect(await createClient(core, { profile: ROVO }).subscribe(id));
    assert.deepEqual(statesOf(frames), ['Task CANCELED']);
  });

  it('against a completion in the same moment exactly one wins, and the answer says which', async (t) => {
    const core = await createCore(t, {
      concurrency: 16,
      agent: async function* () {
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core);
    const outcomes = new Map<string, number>();
    for (let round = 0; round < 60; round += 1) {
      const { id } = await client.start(`round ${round}`);
      for (let turns = 0; turns < round % 12; turns += 1) await new Promise((resolve) => setImmediate(resolve));
      const answer = await client.cancel(id).then(
        (task) => task.status.state,
        (error: unknown) => (isDomainError(error) ? error.code : assert.fail(String(error))),
      );
      const { state } = (await client.settled(id)).status;
      assert.equal(answer, state === 'TASK_STATE_CANCELED' ? state : 'TASK_NOT_CANCELABLE');
      outcomes.set(state, (outcomes.get(state) ?? 0) + 1);
      const events = await core.store.events(client.caller.owner, id, 0, 100);
      const ends = events.filter(({ body }) => 'statusUpdate' in body && isTerminal(body.statusUpdate.status.state));
      assert.equal(ends.length, 1);
      assert.equal(ends[0], events.at(-1), 'nothing follows the end');
    }
    assert.equal(outcomes.size, 2, 'both outcomes were seen');
  });

  it('a finished and an unknown task are refused [3.1.5-ended]', async (t) => {
    const core = await createCore(t, {
      agent: async function* () {
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core);
    const { id } = await client.send('start');
    await assert.rejects(client.cancel(id), (error) => isDomainError(error, 'TASK_NOT_CANCELABLE'));
    await assert.rejects(client.cancel('nobody'), (error) => isDomainError(error, 'TASK_NOT_FOUND'));
  });

  it('on another process than the one that runs it: canceled at once, and the runner stops within a heartbeat', async (t) => {
    const clock = createManualClock();
    const aborted = createGate();
    const core = await createCore(t, {
      clock,
      agent: async function* ({ signal }) {
        yield { state: 'TASK_STATE_WORKING', message: 'on it' };
        signal.addEventListener('abort', () => aborted.open());
        await aborted.opened;
      },
    });
    const { id } = await createClient(core).start('start');
    await until('it runs', async () => (await createClient(core).get(id)).status.message !== undefined);
    const other = await createCore(t, { clock, path: core.path, idle: true, agent: async function* () {} });
    const canceled = await createClient(other).cancel(id);
    assert.equal(canceled.status.state, 'TASK_STATE_CANCELED');
    clock.advance(10_000);
    await aborted.opened;
    await until('the slot is free', () => core.runner.running === 0);
    assert.deepEqual(await createClient(core).get(id), canceled);
  });
});
