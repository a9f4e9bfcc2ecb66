import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DomainError, isDomainError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Agent } from '../../core/ports/agent.ts';
import { createClient, statusText } from '../support/client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { type Core, createCore } from '../support/service.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { advanceUntil, createGate, until } from '../support/until.ts';

const LEASE_MS = 3_000;
const DONE = { state: 'TASK_STATE_COMPLETED' } as const;

function of(core: Core, tenant: string) {
  return createClient(core, { caller: core.caller('someone', { tenant }) });
}

/** An agent that waits to be let go, and who it has begun to work for. */
function waitingAgent() {
  const began: string[] = [];
  const letGo = createGate();
  const run: Agent['run'] = async function* (turn) {
    const [part] = turn.message.parts;
    began.push(part && 'text' in part ? part.text : '');
    await letGo.opened;
    yield DONE;
  };
  return { run, began, letGo };
}

describe('slots of a runner', () => {
  it('a tenant may have its share of them and no more, and another one starts at once', async (t) => {
    const { run, began, letGo } = waitingAgent();
    const core = await createCore(t, { agent: run, concurrency: 4, concurrencyPerTenant: 3 });
    const [flooder, victim] = [of(core, 'flooder'), of(core, 'victim')];
    await Promise.all(Array.from({ length: 20 }, () => flooder.start('flood')));
    await until('the flooder has its share', () => began.length === 3);
    const { id } = await victim.start('mine');
    await until('the victim runs', () => began.includes('mine'));
    assert.deepEqual(began, ['flood', 'flood', 'flood', 'mine']);
    letGo.open();
    await victim.settled(id);
    await until('all have run', () => began.length === 21);
    await until('all slots are free', () => core.runner.running === 0);
  });

  it('without a share one tenant may have them all, and the first that is free is the other’s', async (t) => {
    const { run, began, letGo } = waitingAgent();
    const core = await createCore(t, { agent: run, concurrency: 4 });
    const [flooder, victim] = [of(core, 'flooder'), of(core, 'victim')];
    const first = await Promise.all(Array.from({ length: 20 }, () => flooder.start('flood')));
    await until('the flooder has all', () => began.length === 4);
    await victim.start('mine');
    assert.deepEqual(began, Array(4).fill('flood'));
    for (const { id } of first.slice(0, 4)) await flooder.cancel(id);
    await until('somebody is next', () => began.length > 4);
    assert.equal(began[4], 'mine');
    letGo.open();
  });
});

describe('the queue', () => {
  const idle = { agent: waitingAgent().run, idle: true, queueMax: { tenant: 2, everybody: 3 } };

  async function refused(promise: Promise<unknown>, limit: string): Promise<void> {
    await assert.rejects(
      promise,
      (error) =>
        isDomainError(error, 'OVERLOADED') && error.limit === limit && error.retryAfterMs === LIMITS.queueRetryMs,
    );
  }

  it('full for one tenant, then for all: refused at every process and after a restart, until somebody has run', async (t) => {
    const counted: unknown[] = [];
    const telemetry = {
      ...silentTelemetry,
      count: (metric: string, labels?: object) => counted.push({ metric, ...labels }),
    };
    const one = await createCore(t, { ...idle, telemetry });
    const two = await createCore(t, { ...idle, path: one.path });
    await of(one, 'a').start('1', { messageId: 'm1' });
    await of(two, 'a').start('2');
    await refused(of(one, 'a').start('3'), 'queue-per-tenant');
    await refused(of(two, 'a').start('3'), 'queue-per-tenant');
    await of(two, 'b').start('1');
    await refused(of(one, 'c').start('1'), 'queue');
    const full = counted.filter((each) => JSON.stringify(each).includes('refusals'));
    assert.deepEqual(full, [
      { metric: 'a2a_refusals_total', limit: 'queue-per-tenant' },
      { metric: 'a2a_refusals_total', limit: 'queue' },
    ]);
    await one.stop();
    const again = await createCore(t, { ...idle, path: one.path });
    await refused(of(again, 'c').start('1'), 'queue');
    const { run, letGo } = waitingAgent();
    letGo.open();
    again.addWorker({ agent: run });
    const settled = await of(again, 'a').send('1', { messageId: 'm1' });
    assert.equal(settled.status.state, 'TASK_STATE_COMPLETED');
    await until('there is room', () =>
      of(again, 'c')
        .start('1')
        .catch(() => undefined),
    );
  });

  it('full: a message that was accepted is answered when it comes again, and a task can be read and canceled', async (t) => {
    const core = await createCore(t, { ...idle, queueMax: { tenant: 1, everybody: 1 } });
    const client = of(core, 'a');
    const { id } = await client.start('hello', { messageId: 'm1' });
    await refused(client.start('hello', { messageId: 'm2' }), 'queue-per-tenant');
    assert.equal((await client.start('hello', { messageId: 'm1' })).id, id);
    assert.equal((await client.get(id)).status.state, 'TASK_STATE_SUBMITTED');
    await client.cancel(id);
    await client.start('hello', { messageId: 'm2' });
  });
});

describe('a turn that could not even be failed', () => {
  it('loses its lease although its process lives on, and is taken up as lost', async (t) => {
    const clock = createManualClock();
    const { run, began, letGo } = waitingAgent();
    const core = await createCore(t, { clock, agent: run, leaseMs: LEASE_MS });
    const client = createClient(core);
    const { id } = await client.start('breaks');
    await client.start('runs on');
    await until('both run', () => began.length === 2);
    const { update } = core.store;
    let broken = 0;
    Object.assign(core.store, {
      update: (...args: Parameters<typeof update>) => {
        if (args[0].taskId !== id) return args[0].fence ? new Promise(() => {}) : update(...args);
        broken += 1;
        return Promise.reject(new DomainError('INTERNAL', 'broken'));
      },
    });
    letGo.open();
    await until('its slot is free', () => core.runner.running === 1);
    assert.ok(broken >= 2);
    Object.assign(core.store, { update });
    const state = async () => (await client.get(id)).status.state;
    assert.equal(await state(), 'TASK_STATE_WORKING');
    const since = clock.now();
    await advanceUntil(clock, 'it was taken up', async () => (await state()) === 'TASK_STATE_FAILED');
    assert.ok(clock.now() - since < 3 * LEASE_MS, `after ${clock.now() - since} ms`);
    assert.match(statusText(await client.get(id)), /needs review/);
    assert.equal(core.runner.running, 1, 'the other one keeps its lease');
  });
});
