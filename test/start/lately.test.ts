import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lately } from '../../src/lately.ts';
import { createManualClock } from '../support/manual-clock.ts';

function counted(outcome: () => Promise<void>) {
  const clock = createManualClock();
  let runs = 0;
  const ask = lately(
    () => {
      runs += 1;
      return outcome();
    },
    clock,
    1_000,
  );
  return { clock, ask, runs: () => runs };
}

test('an outcome stands for its time, however often it is asked for', async () => {
  const { clock, ask, runs } = counted(async () => {});
  await Promise.all([ask(), ask(), ask()]);
  clock.advance(999);
  await ask();
  assert.equal(runs(), 1);
  clock.advance(1);
  await ask();
  assert.equal(runs(), 2);
});

test('a rejection stands as long, and the next time may be better', async () => {
  let broken = true;
  const { clock, ask, runs } = counted(async () => {
    if (broken) throw new Error('away');
  });
  await assert.rejects(ask(), /away/);
  broken = false;
  await assert.rejects(ask(), /away/);
  clock.advance(1_000);
  await ask();
  assert.equal(runs(), 2);
});
