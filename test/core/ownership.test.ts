import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DomainError } from '../../core/errors.ts';
import { textOf } from '../../core/message.ts';
import type { Agent } from '../../core/ports/agent.ts';
import { A2A, type Client, collect, createClient, historyTexts, ROVO, statusText } from '../support/client.ts';
import { createCore } from '../support/service.ts';

const agent: Agent['run'] = async function* ({ message, task }) {
  const text = textOf(message.parts);
  yield { artifact: { artifactId: 'a', parts: [{ text: `secret of ${task.id}` }] } };
  if (text === 'ask') yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'Which?' };
  else yield { state: 'TASK_STATE_COMPLETED', message: `You said: ${text}` };
};

/** Everything that a refusal says, inside and out. */
async function refusalOf(attempt: Promise<unknown>): Promise<object> {
  const error = await attempt.then(
    () => assert.fail('it was not refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof DomainError);
  const { code, message, violations, retryAfterMs, tokenHash } = error;
  return { code, message, violations, retryAfterMs, tokenHash };
}

describe('a foreign task', () => {
  const strangers = [
    ['another principal', 'bob', {}],
    ['the same principal of another tenant', 'alice', { tenant: 'other' }],
  ] as const;
  for (const [who, name, options] of strangers) {
    for (const profile of [A2A, ROVO]) {
      it(`${profile.name}, ${who}: every operation answers as for an id that nobody has`, async (t) => {
        const core = await createCore(t, { agent });
        const owner = createClient(core, { profile });
        const parked = await owner.send('ask');
        const finished = await owner.send('do');
        const stranger = createClient(core, { profile, caller: core.caller(name, options) });
        const operations: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
          get: (id) => stranger.get(id),
          cancel: (id) => stranger.cancel(id),
          subscribe: (id) => stranger.subscribe(id),
          resume: (id) => stranger.subscribe(id, { after: 1 }),
          send: (id) => stranger.send('mine now', { taskId: id }),
          stream: (id) => stranger.stream('mine now', { taskId: id }),
        };
        for (const [operation, attempt] of Object.entries(operations)) {
          const unknown = await refusalOf(attempt('no-such-task'));
          assert.equal((unknown as DomainError).code, 'TASK_NOT_FOUND', operation);
          assert.deepEqual(await refusalOf(attempt(parked.id)), unknown, operation);
          assert.deepEqual(await refusalOf(attempt(finished.id)), unknown, operation);
        }
        assert.deepEqual(await owner.get(parked.id), parked);
        assert.deepEqual(await owner.get(finished.id), finished);
      });
    }
  }

  it('is in no list, whatever the filter', async (t) => {
    const core = await createCore(t, { agent });
    const { contextId } = await createClient(core).send('do', { contextId: 'c1' });
    const bob = core.caller('bob');
    for (const filter of [{}, { contextId }, { state: 'TASK_STATE_COMPLETED' as const }]) {
      const list = await core.operations.listTasks(bob, { filter, pageSize: 10, includeArtifacts: true });
      assert.deepEqual(list, { tasks: [], totalSize: 0, pageSize: 10, nextPageToken: '' });
    }
  });
});

describe('ids of two callers', () => {
  it('the same message id is two messages', async (t) => {
    const core = await createCore(t, { agent });
    const callers = [core.caller('alice'), core.caller('bob'), core.caller('alice', { tenant: 'other' })];
    const tasks = await Promise.all(
      callers.map((caller, index) => createClient(core, { caller }).send(`text ${index}`, { messageId: 'm1' })),
    );
    assert.equal(new Set(tasks.map((task) => task.id)).size, 3);
    assert.deepEqual(tasks.map(statusText), ['You said: text 0', 'You said: text 1', 'You said: text 2']);
  });

  for (const profile of [A2A, ROVO]) {
    it(`${profile.name}: the same context id is two contexts, and a used one looks like a new one`, async (t) => {
      const core = await createCore(t, { agent });
      const alice = createClient(core, { profile });
      const bob = createClient(core, { profile, caller: core.caller('bob') });
      const parked = await alice.send('ask', { contextId: 'shared' });
      const used = await bob.send('do', { contextId: 'shared' });
      const fresh = await bob.send('do', { contextId: 'never-seen' });
      assert.notEqual(used.id, parked.id);
      assert.deepEqual(historyTexts(used), ['do']);
      const alike = ({ status, contextId }: typeof used) => [status.state, contextId.length > 0];
      assert.deepEqual(alike(used), alike(fresh));
      assert.equal(used.contextId, 'shared');
      assert.deepEqual(await alice.get(parked.id), parked);
    });
  }
});

describe('a removed tenant', () => {
  it('sends nothing, and its running turns write nothing more', async (t) => {
    const core = await createCore(t, {
      agent: async function* ({ signal }) {
        yield { state: 'TASK_STATE_WORKING', message: 'on it' };
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client: Client = createClient(core);
    const stream = collect(await client.stream('start', { messageId: 'm1' }));
    const { id } = await client.start('start', { messageId: 'm1' });
    await core.tenants.remove('test');
    await assert.rejects(
      client.start('more'),
      (error) => error instanceof DomainError && error.code === 'UNAUTHENTICATED',
    );
    await core.tenants.erase('test', 100);
    await stream;
    await assert.rejects(client.get(id), (error) => error instanceof DomainError && error.code === 'TASK_NOT_FOUND');
  });
});
