import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { statusText } from '../../support/client.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createArena, createGatedAgent, jitter, RACES, race, TIMEOUT_MS } from './arena.ts';

/** Sooner than a call gives up waiting. */
const DEADLINE_MS = 10_000;
/** Longer than time goes on here, so that nothing but the deadline ends a turn. */
const LEASE_MS = 10 ** 12;

test(`deadline against completion, ${RACES} times: one of them wins, for everybody`, {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const clock = createManualClock();
  const agent = createGatedAgent(async function* (_, text) {
    yield { state: 'TASK_STATE_COMPLETED', message: text };
  });
  const arena = await createArena(t, { agent: agent.run, clock, leaseMs: LEASE_MS });
  // Everybody's polls and the janitors of both processes live by this clock.
  const ticking = setInterval(() => clock.advance(100), 1);
  t.after(() => clearInterval(ticking));
  await race(t, ['completed', 'expired'], async (round) => {
    const text = `race-${round}`;
    const gate = agent.gate(text);
    const sent = { text, messageId: randomUUID() };
    const { id } = await arena.here.start(text, { ...sent, deadlineMs: DEADLINE_MS });
    const due = clock.now() + DEADLINE_MS;
    const observers = await arena.watch(id, sent);
    await new Promise<void>((resolve) => clock.timer(due - clock.now() + Math.random() * 1_000, resolve));
    await jitter();
    gate.open();
    const task = await observers.agree();
    if (task.status.state === 'TASK_STATE_COMPLETED') {
      assert.equal(statusText(task), text);
      return 'completed';
    }
    assert.equal(task.status.state, 'TASK_STATE_FAILED');
    assert.match(statusText(task), /took longer than it may/);
    return 'expired';
  });
  await arena.expectClean();
});
