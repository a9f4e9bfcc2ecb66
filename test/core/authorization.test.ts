import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { textOf } from '../../core/message.ts';
import { collect, createClient, historyTexts, statesOf, statusText } from '../support/client.ts';
import { createCore } from '../support/service.ts';

/** Asks for a permission of its own, in words or without, and goes on with whatever it is told. */
async function createSite(t: TestContext, words?: string) {
  const core = await createCore(t, {
    agent: async function* ({ task, message }) {
      if (task.history?.length === 1) {
        yield { state: 'TASK_STATE_AUTH_REQUIRED', ...(words === undefined ? {} : { message: words }) };
      } else yield { state: 'TASK_STATE_COMPLETED', message: `Told ${textOf(message.parts)}` };
    },
  });
  return { core, client: createClient(core) };
}

describe('an agent that asks for an authorization', () => {
  it('is a task in AUTH_REQUIRED with its words, or with ours when it has none [7.6.1-task, 7.6.1-state, 7.6.1-explained]', async (t) => {
    for (const words of ['Approve the payment', undefined]) {
      const { core, client } = await createSite(t, words);
      const task = await client.send('start');
      assert.equal(task.status.state, 'TASK_STATE_AUTH_REQUIRED');
      assert.match(statusText(task), words === undefined ? /needs an authorization/ : /^Approve the payment$/);
      const last = (await core.store.events(client.caller.owner, task.id, 0, 50)).at(-1);
      assert.ok(last && 'statusUpdate' in last.body);
      assert.deepEqual(last.body.statusUpdate.status, task.status, 'its readers are told the same');
    }
  });

  it('is not answered by a token that comes, but by a message [7.6.1-messages, 7.6.4-no-permission]', async (t) => {
    const { core, client } = await createSite(t, 'Approve the payment');
    const { id: taskId } = await client.send('start');
    await core.operations.renewUserToken(core.caller('alice', { token: { token: 'another' } }));
    assert.equal((await client.get(taskId)).status.state, 'TASK_STATE_AUTH_REQUIRED');
    const task = await client.send('approved', { taskId });
    assert.equal(statusText(task), 'Told approved');
    assert.deepEqual(historyTexts(task), ['start', 'approved']);
  });

  it('keeps its streams open until it has ended [7.6.1-streams]', async (t) => {
    const { client } = await createSite(t, 'Approve the payment');
    const sent = collect(await client.stream('start', { messageId: 'm1' }));
    const { id: taskId } = await client.send('start', { messageId: 'm1' });
    const subscribed = collect(await client.subscribe(taskId));
    await client.send('approved', { taskId });
    assert.deepEqual(statesOf(await sent).slice(-3), ['AUTH_REQUIRED', 'WORKING', 'COMPLETED']);
    assert.deepEqual(statesOf(await subscribed), ['Task AUTH_REQUIRED', 'WORKING', 'COMPLETED']);
  });
});
