import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDomainError } from '../../core/errors.ts';
import { textOf } from '../../core/message.ts';
import type { Agent } from '../../core/ports/agent.ts';
import { A2A, createClient, statusText } from '../support/client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createCore } from '../support/service.ts';
import { advanceUntil, createGate, never, until } from '../support/until.ts';

/** Longer than any jump of the clock here, so that none of them looks like a dead process. */
const leaseMs = 3_600_000;

const asking: Agent['run'] = async function* () {
  yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'Which one?' };
};

describe('a deadline', () => {
  it('passes: the task is FAILED, the agent is told, its last words are refused', async (t) => {
    const clock = createManualClock();
    const told = createGate();
    const core = await createCore(t, {
      clock,
      leaseMs,
      agent: async function* ({ signal }) {
        yield { state: 'TASK_STATE_WORKING', message: 'on it' };
        signal.addEventListener('abort', () => told.open());
        await told.opened;
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core);
    const { id } = await client.start('start', { deadlineMs: 60_000 });
    await until('it runs', async () => (await client.get(id)).status.message !== undefined);
    clock.advance(58_000);
    assert.equal((await client.get(id)).status.state, 'TASK_STATE_WORKING');
    const task = await advanceUntil(clock, 'the deadline', async () => {
      const now = await client.get(id);
      return now.status.state === 'TASK_STATE_FAILED' && now;
    });
    assert.match(statusText(task), /longer than it may/);
    await told.opened;
    await until('the slot is free', () => core.runner.running === 0);
    assert.deepEqual(await client.get(id), task);
  });

  it('of a task that waits for a slot passes as well: it is never started', async (t) => {
    const clock = createManualClock();
    let runs = 0;
    const core = await createCore(t, {
      clock,
      leaseMs,
      concurrency: 1,
      // biome-ignore lint/correctness/useYield: it hangs
      agent: async function* () {
        runs += 1;
        await never();
      },
    });
    const client = createClient(core);
    await client.start('first');
    await until('the first runs', () => runs === 1);
    const { id } = await client.start('second', { deadlineMs: 5_000 });
    await advanceUntil(clock, 'the deadline', async () => (await client.get(id)).status.state === 'TASK_STATE_FAILED');
    assert.equal(runs, 1);
  });

  it('of the interaction stops at a question, which has its own, and starts again with the answer', async (t) => {
    const clock = createManualClock();
    const core = await createCore(t, {
      clock,
      leaseMs,
      parkedMaxMs: 100_000,
      agent: async function* ({ message }) {
        if (textOf(message.parts) === 'this') await never();
        yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'Which one?' };
      },
    });
    const client = createClient(core, { profile: { ...A2A, waitMs: 0 } });
    const { id: taskId } = await client.start('start', { deadlineMs: 10_000 });
    await client.settled(taskId);
    clock.advance(90_000);
    await client.start('this', { taskId, deadlineMs: 20_000 });
    clock.advance(18_000);
    assert.equal((await client.get(taskId)).status.state, 'TASK_STATE_WORKING');
    const end = clock.now() + 2_000;
    await advanceUntil(
      clock,
      'the new deadline',
      async () => (await client.get(taskId)).status.state !== 'TASK_STATE_WORKING',
    );
    assert.equal((await client.get(taskId)).status.state, 'TASK_STATE_FAILED');
    assert.ok(clock.now() >= end);
  });

  it('of a question that nobody answers: FAILED, and the late answer finds it so', async (t) => {
    const clock = createManualClock();
    const core = await createCore(t, { clock, leaseMs, parkedMaxMs: 30_000, agent: asking });
    const client = createClient(core);
    const { id: taskId } = await client.start('start', { deadlineMs: 1_000 });
    await client.settled(taskId);
    clock.advance(28_000);
    assert.equal((await client.get(taskId)).status.state, 'TASK_STATE_INPUT_REQUIRED');
    await advanceUntil(
      clock,
      'the deadline',
      async () => (await client.get(taskId)).status.state === 'TASK_STATE_FAILED',
    );
    assert.match(statusText(await client.get(taskId)), /Nobody answered/);
    await assert.rejects(client.send('late', { taskId }), (error) => isDomainError(error, 'UNSUPPORTED_OPERATION'));
  });

  it('runs on in AUTH_REQUIRED', async (t) => {
    const clock = createManualClock();
    const core = await createCore(t, {
      clock,
      leaseMs,
      agent: async function* () {
        yield { state: 'TASK_STATE_AUTH_REQUIRED', message: 'Sign in' };
      },
    });
    const client = createClient(core);
    const { id } = await client.start('start', { deadlineMs: 10_000 });
    await client.settled(id);
    await advanceUntil(clock, 'the deadline', async () => (await client.get(id)).status.state === 'TASK_STATE_FAILED');
  });
});

describe('timestamps', () => {
  it('never go back within a task, whatever the clock does', async (t) => {
    const inner = createManualClock();
    let back = 0;
    const clock = { ...inner, now: () => inner.now() - back };
    const core = await createCore(t, {
      clock,
      leaseMs,
      agent: async function* () {
        for (let step = 0; step < 4; step += 1) {
          back += 60_000;
          yield { state: 'TASK_STATE_WORKING', message: `step ${step}` };
        }
        yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'Well?' };
      },
    });
    const client = createClient(core);
    const { id: taskId } = await client.start('start');
    await client.settled(taskId);
    back += 60_000;
    await client.start('answer', { taskId });
    back += 60_000;
    await client.cancel(taskId);
    const events = await core.store.events(client.caller.owner, taskId, 0, 100);
    const times = events.flatMap(({ body }) => {
      if ('task' in body) return [body.task.status.timestamp];
      return 'statusUpdate' in body ? [body.statusUpdate.status.timestamp] : [];
    });
    assert.ok(times.length >= 8);
    assert.deepEqual(times, [...times].sort());
    for (const time of times) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal((await client.get(taskId)).status.timestamp, times.at(-1));
  });
});
