import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { isDomainError } from '../../../core/errors.ts';
import {
  type Arena,
  createArena,
  createGatedAgent,
  type GatedAgent,
  jitter,
  oneOf,
  RACES,
  race,
  TIMEOUT_MS,
} from './arena.ts';

function createCompletingAgent(): GatedAgent {
  return createGatedAgent(async function* (_, text) {
    yield { artifact: { artifactId: 'log', parts: [{ text }] } };
    yield { state: 'TASK_STATE_COMPLETED', message: `Done ${text}.` };
  });
}

async function start(arena: Arena, agent: GatedAgent, text: string) {
  const gate = agent.gate(text);
  const sent = { text, messageId: randomUUID() };
  const { id } = await arena.here.start(text, sent);
  return { id, gate, observers: await arena.watch(id, sent) };
}

test(`cancel against completion, ${RACES} times: one of them wins, for everybody`, {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const agent = createCompletingAgent();
  const arena = await createArena(t, { agent: agent.run });
  const { here, there } = arena;
  await race(t, ['canceled', 'completed'], async (round) => {
    const { id, gate, observers } = await start(arena, agent, `race-${round}`);
    const [, canceling] = await Promise.allSettled([
      jitter().then(() => gate.open()),
      jitter(8).then(() => oneOf(here, there).cancel(id)),
    ]);
    const task = await observers.agree();
    if (task.status.state === 'TASK_STATE_CANCELED') {
      assert.equal(canceling.status, 'fulfilled');
      assert.deepEqual(canceling.value, await here.get(id), 'the canceled task, as it stays');
      return 'canceled';
    }
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(canceling.status, 'rejected');
    assert.ok(isDomainError(canceling.reason, 'TASK_NOT_CANCELABLE'), String(canceling.reason));
    return 'completed';
  });
  await arena.expectClean();
});

test(`two cancels, ${RACES} times: the task is canceled once, and both are told the same`, {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const agent = createCompletingAgent();
  const arena = await createArena(t, { agent: agent.run });
  const { here, there } = arena;
  await race(t, ['canceled'], async (round) => {
    const text = `race-${round}`;
    const { id, gate, observers } = await start(arena, agent, text);
    const answers = await Promise.all([jitter().then(() => here.cancel(id)), jitter().then(() => there.cancel(id))]);
    gate.open();
    const task = await observers.agree();
    for (const answer of answers) assert.deepEqual(answer, task);
    assert.equal(task.status.state, 'TASK_STATE_CANCELED');
    assert.ok(agent.runs(text) <= 1);
    return 'canceled';
  });
  await arena.expectClean();
});
