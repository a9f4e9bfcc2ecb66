import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { isDomainError } from '../../../core/errors.ts';
import { collect, createClient, ROVO } from '../../support/client.ts';
import { createArena, createGatedAgent, expectStream, jitter, oneOf, RACES, race, TIMEOUT_MS } from './arena.ts';

test(`subscribe against the terminal event, ${RACES} times: the stream ends with it, or is told that the task has ended`, {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const agent = createGatedAgent(async function* (_, text) {
    yield { artifact: { artifactId: 'log', parts: [{ text }] } };
    yield { artifact: { artifactId: 'log', parts: [{ text }] }, append: true, lastChunk: true };
    yield { state: 'TASK_STATE_COMPLETED', message: `Done ${text}.` };
  });
  const arena = await createArena(t, { agent: agent.run });
  const { here, there, core } = arena;
  const jira = createClient(core, { profile: ROVO });
  await race(t, ['followed', 'ended', 'resumed', 'shown at its end'], async (round) => {
    const text = `race-${round}`;
    const gate = agent.gate(text);
    const sent = { text, messageId: randomUUID() };
    const { id } = await here.start(text, sent);
    const observers = await arena.watch(id, sent);
    const how = oneOf('plain', 'behind an event', 'jira');
    const known = (await arena.events(id)).length;
    const [, subscribing] = await Promise.allSettled([
      jitter().then(() => gate.open()),
      jitter(12).then(async () => {
        const client = how === 'jira' ? jira : oneOf(here, there);
        return collect(await client.subscribe(id, how === 'behind an event' ? { after: known } : {}));
      }),
    ]);
    const task = await observers.agree();
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
    if (subscribing.status === 'rejected') {
      assert.ok(isDomainError(subscribing.reason, 'UNSUPPORTED_OPERATION'), String(subscribing.reason));
      assert.notEqual(how, 'jira', 'Jira is shown a task that has ended');
      return 'ended';
    }
    const frames = subscribing.value;
    const [first] = frames;
    assert.ok(first);
    if (how === 'behind an event') {
      assert.equal(first.sequence, known + 1, 'a gap behind the last event');
      const before = (await arena.events(id)).slice(0, known);
      expectStream([...before, ...frames], task);
      return 'resumed';
    }
    assert.ok('task' in first.body, 'the task comes first');
    expectStream(frames, task);
    return how === 'jira' && frames.length === 1 ? 'shown at its end' : 'followed';
  });
  await arena.expectClean();
});
