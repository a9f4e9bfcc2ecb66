import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { isDomainError } from '../../../core/errors.ts';
import { createClient, ROVO, statusText } from '../../support/client.ts';
import {
  createArena,
  createGatedAgent,
  type GatedAgent,
  jitter,
  oneOf,
  RACES,
  race,
  TIMEOUT_MS,
  textOf,
} from './arena.ts';

/** Says what it answers. Every second one looks into its inbox before it ends. */
function createAnsweringAgent(): GatedAgent {
  return createGatedAgent(async function* (turn, text) {
    const looks = Number(text.split('-')[1]) % 2 === 0;
    if (looks) yield { state: 'TASK_STATE_WORKING', message: 'Nearly.' };
    const messages = looks ? [turn.message, ...turn.inbox()] : [turn.message];
    yield { state: 'TASK_STATE_COMPLETED', message: messages.map(textOf).join(' ') };
  });
}

test(`follow-up against completion, ${RACES} times: it is answered in that turn or the next one, or refused and nowhere`, {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const agent = createAnsweringAgent();
  const arena = await createArena(t, { agent: agent.run });
  const { here, there } = arena;
  await race(t, ['same turn', 'next turn', 'refused'], async (round) => {
    const [text, more] = [`race-${round}`, `more-${round}`];
    const gate = agent.gate(text);
    const sent = { text, messageId: randomUUID() };
    const { id } = await here.start(text, sent);
    const observers = await arena.watch(id, sent);
    const [, following] = await Promise.allSettled([
      jitter().then(() => gate.open()),
      jitter(8).then(() => oneOf(here, there).send(more, { taskId: id })),
    ]);
    const task = await observers.agree();
    const history = (task.history ?? []).map(textOf);
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(agent.runs(text), 1);
    if (following.status === 'rejected') {
      assert.ok(isDomainError(following.reason, 'UNSUPPORTED_OPERATION'), String(following.reason));
      assert.deepEqual([history, statusText(task)], [[text], text], 'a refused message is in no history');
      assert.equal(agent.runs(more), 0);
      return 'refused';
    }
    assert.deepEqual(following.value, task, 'who followed up is told the same end');
    if (agent.runs(more) === 0) {
      assert.deepEqual([history, statusText(task)], [[text, more], `${text} ${more}`]);
      return 'same turn';
    }
    assert.equal(agent.runs(more), 1);
    assert.equal(statusText(task), more);
    assert.deepEqual([...history].sort(), [more, text, text].sort(), 'both messages once, and the first answer');
    return 'next turn';
  });
  await arena.expectClean();
});

test(`follow-up from Jira against completion, ${RACES} times: it goes on in the task or starts a new one, and is answered once`, {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const agent = createAnsweringAgent();
  const arena = await createArena(t, { agent: agent.run });
  const jira = createClient(arena.core, { profile: ROVO });
  await race(t, ['same task', 'new task'], async (round) => {
    // Odd ones do not look into their inbox, so a message that came in time has a turn of its own.
    const [text, more] = [`race-${2 * round + 1}`, `more-${2 * round + 1}`];
    const gate = agent.gate(text);
    const { id, contextId } = await jira.start(text);
    const [, following] = await Promise.all([
      jitter().then(() => gate.open()),
      jitter(8).then(() => jira.send(more, { contextId })),
    ]);
    const first = await jira.settled(id);
    assert.deepEqual([agent.runs(text), agent.runs(more)], [1, 1], 'each answered once');
    assert.deepEqual([following.status.state, statusText(following)], ['TASK_STATE_COMPLETED', more]);
    if (following.id === id) {
      assert.deepEqual(following, first);
      return 'same task';
    }
    assert.equal(following.contextId, contextId);
    assert.deepEqual([first.status.state, statusText(first)], ['TASK_STATE_COMPLETED', text]);
    return 'new task';
  });
  await arena.expectClean();
});
