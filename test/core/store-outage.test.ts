import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError } from '../../core/errors.ts';
import type { Agent } from '../../core/ports/agent.ts';
import type { TaskStore } from '../../core/ports/task-store.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { createClient } from '../support/client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createCore } from '../support/service.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { advanceUntil, createGate } from '../support/until.ts';

const LEASE_MS = 30_000;

/** While it is away, nothing can be written. */
function interrupt(store: TaskStore, retryAfterMs = 500): { away: boolean } {
  const state = { away: false };
  const { update, claim, heartbeat, due } = store;
  const gone = () => Promise.reject(new DomainError('STORE_UNAVAILABLE', 'away', { retryAfterMs }));
  Object.assign(store, {
    update: (...args: Parameters<typeof update>) => (state.away ? gone() : update(...args)),
    claim: (...args: Parameters<typeof claim>) => (state.away ? gone() : claim(...args)),
    heartbeat: (...args: Parameters<typeof heartbeat>) => (state.away ? gone() : heartbeat(...args)),
    due: (...args: Parameters<typeof due>) => (state.away ? gone() : due(...args)),
  });
  return state;
}

test('a store that was away for longer than a lease: the turns that ran meanwhile are not taken for lost ones', async (t) => {
  const clock = createManualClock();
  const [begun, gate] = [createGate(), createGate()];
  let runs = 0;
  const agent: Agent = {
    recovery: 'review',
    run: async function* () {
      runs += 1;
      begun.open();
      await gate.opened;
      yield { state: 'TASK_STATE_COMPLETED', message: 'done' };
    },
  };
  const core = await createCore(t, { clock, agent, leaseMs: LEASE_MS });
  const store = interrupt(core.store);
  const client = createClient(core);
  const { id } = await client.start('go');
  await advanceUntil(clock, 'it runs', () => runs === 1);
  store.away = true;
  const since = clock.now();
  await advanceUntil(clock, 'its lease has run out', () => clock.now() > since + 2 * LEASE_MS);
  store.away = false;
  const back = clock.now();
  await advanceUntil(clock, 'the runner has looked for work', () => clock.now() > back + 5_000);
  assert.equal((await client.get(id)).status.state, 'TASK_STATE_WORKING');
  gate.open();
  await advanceUntil(clock, 'it has ended', async () => (await client.get(id)).status.state !== 'TASK_STATE_WORKING');
  assert.equal((await client.get(id)).status.state, 'TASK_STATE_COMPLETED');
  assert.equal(runs, 1);
});

test('a store that stood still for longer than a lease: a claim that waited for it takes none of the turns that run here', async (t) => {
  const clock = createManualClock();
  const [gate, stands] = [createGate(), createGate()];
  let runs = 0;
  const agent: Agent = {
    recovery: 'review',
    run: async function* () {
      runs += 1;
      await gate.opened;
      yield { state: 'TASK_STATE_COMPLETED', message: 'done' };
    },
  };
  const core = await createCore(t, { clock, agent, leaseMs: LEASE_MS });
  const { claim, heartbeat } = core.store;
  const client = createClient(core);
  const { id } = await client.start('go');
  await advanceUntil(clock, 'it runs', () => runs === 1);
  const waiting: string[] = [];
  Object.assign(core.store, {
    claim: async (...args: Parameters<typeof claim>) => {
      waiting.push('claim');
      await stands.opened;
      return claim(...args);
    },
    heartbeat: async (...args: Parameters<typeof heartbeat>) => {
      waiting.push('heartbeat');
      await stands.opened;
      return heartbeat(...args);
    },
  });
  const since = clock.now();
  await advanceUntil(clock, 'its lease has run out', () => clock.now() > since + 2 * LEASE_MS);
  assert.deepEqual(waiting.slice(0, 2), ['claim', 'heartbeat']);
  stands.open();
  const back = clock.now();
  await advanceUntil(clock, 'the runner has looked for work', () => clock.now() > back + 5_000);
  gate.open();
  await advanceUntil(clock, 'it has ended', async () => (await client.get(id)).status.state !== 'TASK_STATE_WORKING');
  assert.equal((await client.get(id)).status.state, 'TASK_STATE_COMPLETED');
  assert.equal(runs, 1);
});

test('a store that is away: runner and janitor say nothing of it beside the store itself', async (t) => {
  const clock = createManualClock();
  const loud: string[] = [];
  const telemetry: Telemetry = {
    ...silentTelemetry,
    event: (level, name) => {
      if (level !== 'debug' && level !== 'info') loud.push(name);
    },
  };
  const gate = createGate();
  const agent: Agent['run'] = async function* () {
    await gate.opened;
    yield { state: 'TASK_STATE_COMPLETED' };
  };
  const core = await createCore(t, { clock, agent, telemetry, leaseMs: LEASE_MS });
  const store = interrupt(core.store);
  await createClient(core).start('go');
  await advanceUntil(clock, 'it runs', () => core.runner.running === 1);
  store.away = true;
  const since = clock.now();
  await advanceUntil(clock, 'everybody has tried', () => clock.now() > since + LEASE_MS);
  assert.deepEqual(loud, []);
  store.away = false;
  gate.open();
});

/** Looks are due faster than one of them is refused. */
const SHORT_MS = 1_000;

test('a store that is away for long: what the agent wants to commit does not wait behind looks that piled up', async (t) => {
  const clock = createManualClock();
  const gate = createGate();
  const events: string[] = [];
  const telemetry: Telemetry = { ...silentTelemetry, event: (_level, name) => void events.push(name) };
  const agent: Agent['run'] = async function* () {
    await gate.opened;
    yield { state: 'TASK_STATE_COMPLETED' };
  };
  const core = await createCore(t, { clock, agent, telemetry, leaseMs: SHORT_MS });
  const store = interrupt(core.store, 2 * SHORT_MS);
  await createClient(core).start('go');
  await advanceUntil(clock, 'it runs', () => core.runner.running === 1);
  store.away = true;
  const since = clock.now();
  await advanceUntil(clock, 'many looks were due', () => clock.now() > since + 20 * SHORT_MS);
  gate.open();
  const opened = clock.now();
  await advanceUntil(clock, 'the turn is given up', () => events.includes('turn.abandoned'));
  assert.ok(clock.now() - opened < 8 * SHORT_MS, `after ${clock.now() - opened} ms`);
  store.away = false;
});
