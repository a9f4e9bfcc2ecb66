import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { textOf } from '../../core/message.ts';
import type { Agent } from '../../core/ports/agent.ts';
import { createClient, statusText } from '../support/client.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { createCore } from '../support/service.ts';
import { createGate, never, until } from '../support/until.ts';

const DRAIN_MS = 25_000;

function working(run: Agent['run'], recovery?: Agent['recovery']): Agent {
  return { run, ...(recovery ? { recovery } : {}) };
}

describe('a shutdown', () => {
  it('lets turns finish and claims no more', async (t) => {
    const clock = createManualClock();
    const gate = createGate();
    const core = await createCore(t, {
      clock,
      concurrency: 1,
      agent: async function* () {
        yield { state: 'TASK_STATE_WORKING', message: 'on it' };
        await gate.opened;
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core);
    const { id } = await client.start('first');
    await until('it runs', async () => (await client.get(id)).status.message !== undefined);
    const stopped = core.runner.stop(DRAIN_MS);
    const queued = await client.start('second');
    gate.open();
    await stopped;
    assert.equal((await client.get(id)).status.state, 'TASK_STATE_COMPLETED');
    assert.equal((await client.get(queued.id)).status.state, 'TASK_STATE_SUBMITTED');
    assert.equal(core.runner.running, 0);
  });

  it('at once when nothing runs', async (t) => {
    const core = await createCore(t, { clock: createManualClock(), agent: async function* () {} });
    await core.runner.stop(DRAIN_MS);
  });

  it('a claim that comes back when the time to finish is over: its turn is given back and never begun', async (t) => {
    let runs = 0;
    const core = await createCore(t, {
      agent: async function* () {
        runs += 1;
        await never();
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core);
    core.worker.freeze();
    await client.start('first');
    const stopped = core.runner.stop(1_000);
    // The drain has no time to wait in, so what runs is stopped now; only then is the claim carried out.
    await new Promise((resolve) => setTimeout(resolve, 20));
    core.worker.thaw();
    await stopped;
    assert.deepEqual(await core.store.backlog().then(({ waiting, leased }) => ({ waiting, leased })), {
      ...{ waiting: 1, leased: 0 },
    });
    assert.equal(runs, 0);
  });

  it('rerun: a turn that does not finish is given back, and another process does it from the start', async (t) => {
    const clock = createManualClock();
    const agent = working(async function* ({ signal, inbox, message }) {
      const taken = await until('the message', () => inbox()[0]);
      yield { artifact: { artifactId: 'a', parts: [{ text: `${textOf(message.parts)} ` }] } };
      yield { artifact: { artifactId: 'a', parts: [{ text: textOf(taken.parts) }] }, append: true };
      if (!core.runner.running) yield { state: 'TASK_STATE_COMPLETED' };
      await until('the abort', () => signal.aborted);
    }, 'rerun');
    const core = await createCore(t, { clock, agent });
    const client = createClient(core);
    const { id } = await client.start('start');
    await until('it runs', () => core.runner.running === 1);
    await client.start('this too', { taskId: id });
    await until('it wrote', async () => {
      clock.advance(30);
      return (await client.get(id)).artifacts?.length === 1;
    });
    const stopped = core.runner.stop(DRAIN_MS);
    clock.advance(DRAIN_MS - 3_001);
    assert.equal(core.runner.running, 1, 'the reserve is not touched before its time');
    clock.advance(1);
    await stopped;
    const given = await client.get(id);
    assert.equal(given.status.state, 'TASK_STATE_WORKING');
    assert.equal((await core.store.backlog()).waiting, 1, 'claimable at once, without waiting for a lease to run out');
    core.addWorker({ agent });
    const task = await client.settled(id);
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(textOf(task.artifacts?.[0]?.parts ?? []), 'start this too', 'not doubled');
  });

  it('review: a turn that does not finish fails and says that nothing was started again', async (t) => {
    const clock = createManualClock();
    const core = await createCore(t, {
      clock,
      agent: async function* () {
        yield { artifact: { artifactId: 'a', parts: [{ text: 'half' }] } };
        await never();
      },
    });
    const client = createClient(core);
    const { id } = await client.start('start');
    await until('it runs', () => core.runner.running === 1);
    const stopped = core.runner.stop(DRAIN_MS);
    clock.advance(DRAIN_MS - 3_000);
    await until('it failed', async () => (await client.get(id)).status.state === 'TASK_STATE_FAILED');
    assert.match(statusText(await client.get(id)), /interrupted by a restart/);
    assert.equal(
      textOf((await client.get(id)).artifacts?.[0]?.parts ?? []),
      'half',
      'text that waited is committed first',
    );
    clock.advance(3_000);
    await stopped;
  });

  it('review: a turn whose agent has not begun is given back all the same', async (t) => {
    const gate = createGate();
    let runs = 0;
    const core = await createCore(t, {
      clock: createManualClock(),
      capabilities: () => gate.opened.then(() => ({})),
      agent: async function* () {
        runs += 1;
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core);
    const { id } = await client.start('start');
    await until('it was claimed', () => core.runner.running === 1);
    const stopped = core.runner.stop(0);
    (core.clock as ManualClock).advance(1);
    await until('nothing more is claimed', async () => (await core.store.backlog()).leased === 1);
    gate.open();
    await stopped;
    assert.equal(runs, 0);
    assert.equal((await client.get(id)).status.state, 'TASK_STATE_WORKING');
    assert.equal((await core.store.backlog()).waiting, 1);
  });

  it('an agent that ignores the abort holds nobody up beyond the reserve', async (t) => {
    const clock = createManualClock();
    const core = await createCore(t, {
      clock,
      agent: working(() => ({ [Symbol.asyncIterator]: () => ({ next: never }) }), 'rerun'),
    });
    const client = createClient(core);
    await client.start('start');
    await until('it runs', () => core.runner.running === 1);
    const stopped = core.runner.stop(DRAIN_MS);
    clock.advance(DRAIN_MS - 3_000);
    await until('it was given back', async () => (await core.store.backlog()).waiting === 1);
    clock.advance(3_000);
    await stopped;
  });

  it('a claim that is under way when it begins is finished in order, too', async (t) => {
    const clock = createManualClock();
    const finished: string[] = [];
    const core = await createCore(t, {
      clock,
      agent: async function* ({ task }) {
        finished.push(task.id);
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core);
    const { claim } = core.store;
    let stopped: Promise<void> | undefined;
    Object.assign(core.store, {
      claim: async (...args: Parameters<typeof claim>) => {
        const claimed = await claim(...args);
        if (claimed.claimed.length > 0) stopped ??= core.runner.stop(DRAIN_MS);
        return claimed;
      },
    });
    const { id } = await client.start('start');
    await until('the shutdown began in the middle of the claim', () => stopped !== undefined);
    await stopped;
    assert.deepEqual(finished, [id]);
    assert.equal((await client.get(id)).status.state, 'TASK_STATE_COMPLETED');
    assert.deepEqual(await core.store.backlog(), { waiting: 0, leased: 0, oldestMs: 0 });
  });
});
