import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError } from '../../core/errors.ts';
import { createReadiness } from '../../src/readiness.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { never } from '../support/until.ts';

function open() {
  const clock = createManualClock();
  const said: string[] = [];
  const state = { ping: () => Promise.resolve(), stopping: false };
  const ready = createReadiness({
    store: { ping: () => state.ping() },
    clock,
    telemetry: { ...silentTelemetry, event: (level, name, { reason } = {}) => said.push(`${level} ${name} ${reason}`) },
    stopping: () => state.stopping,
  });
  return {
    ready,
    clock,
    said,
    state,
    later: () => {
      clock.advance(1_000);
      return ready();
    },
  };
}

test('readiness: says in fixed words what is wrong, and in the log only when that changes', async () => {
  const { ready, later, said, state } = open();
  assert.equal(await ready(), undefined);
  state.ping = () => Promise.reject(new DomainError('STORE_UNAVAILABLE', 'away', { storeFault: 'full' }));
  for (let count = 0; count < 10; count += 1) assert.equal(await later(), 'store full');
  state.ping = () => Promise.reject(new Error('/data/connector.db is on fire'));
  assert.equal(await later(), 'store failing');
  state.ping = () => Promise.resolve();
  for (let count = 0; count < 10; count += 1) assert.equal(await later(), undefined);
  state.stopping = true;
  assert.equal(await ready(), 'stopping');
  assert.deepEqual(said, [
    'warn readiness.failed store full',
    'warn readiness.failed store failing',
    'info readiness.restored undefined',
    'warn readiness.failed stopping',
  ]);
});

test('readiness: a store that does not answer is not ready after two seconds', async () => {
  const { ready, clock, state } = open();
  state.ping = never;
  const asked = ready();
  clock.advance(2_000);
  assert.equal(await asked, 'store silent');
});
