import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError } from '../../../core/errors.ts';
import { isTerminal } from '../../../core/task.ts';
import { sha256 } from '../../../src/system-clock.ts';
import { createClient } from '../../support/client.ts';
import { until } from '../../support/until.ts';
import { createArena, createGatedAgent, jitter, RACES, race, TIMEOUT_MS } from './arena.ts';

test(`a fresh token against the parking of its task, ${RACES} times: the turn goes on, whichever was first`, {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const agent = createGatedAgent(async function* (turn, text) {
    const refused = agent.runs(text) === 1;
    if (refused) {
      throw new DomainError('USER_TOKEN_REQUIRED', 'Allow it.', { tokenHash: sha256(`old token of ${text}`) });
    }
    yield { state: 'TASK_STATE_COMPLETED', message: turn.task.id };
  });
  const arena = await createArena(t, { agent: agent.run });
  const { core } = arena;
  await race(t, ['parked and woken', 'run again at once'], async (round) => {
    const text = `race-${round}`;
    const gate = agent.gate(text);
    // A person each: a token wakes every task of its person.
    const client = createClient(core, { caller: core.caller(text, { token: { token: `old token of ${text}` } }) });
    const { id } = await client.start(text);
    await Promise.all([
      jitter().then(() => gate.open()),
      jitter(8).then(() => core.operations.renewUserToken(core.caller(text, { token: { token: `new of ${text}` } }))),
    ]);
    // Nobody brings a token once more.
    const task = await until('the task has ended', async () => {
      const seen = await client.get(id);
      return isTerminal(seen.status.state) && seen;
    });
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(agent.runs(text), 2);
    const events = await core.store.events(client.caller.owner, id, 0, 100);
    const parked = events.some(({ body }) => JSON.stringify(body).includes('TASK_STATE_AUTH_REQUIRED'));
    return parked ? 'parked and woken' : 'run again at once';
  });
  await arena.expectClean();
});
