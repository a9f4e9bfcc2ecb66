import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { CallOptions } from '../../simulator/client/calls.ts';
import type { JiraClient } from '../../simulator/client/jira-client.ts';
import { type Caller, createCaller } from './callers.ts';
import { script, startWorld, type World } from './world.ts';

/** One caller, and whoever must not get at what is theirs. `as` picks the person of a call to Jira's door. */
interface Stranger {
  readonly name: string;
  readonly client: JiraClient;
  readonly as?: CallOptions;
}

let world: World;
before(async () => {
  world = await startWorld({ agent: 'rerun' });
  // A second process on the same database: what is true of one must be true of both.
  second = await world.start();
});
after(() => world.close());
let second: Awaited<ReturnType<World['start']>>;

const CALLS: readonly (readonly [string, (taskId: string) => unknown])[] = [
  ['GetTask', (id) => ({ id })],
  ['CancelTask', (id) => ({ id })],
  ['SubscribeToTask', (id) => ({ id })],
  ['SendMessage', (taskId) => ({ message: { ...FOLLOW_UP, taskId } })],
  ['SendStreamingMessage', (taskId) => ({ message: { ...FOLLOW_UP, taskId } })],
];
const FOLLOW_UP = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'complete Mine now.' }] };

/** Everything of an answer that could tell two ids apart, at the same JSON-RPC id. */
async function answerOf({ client, as = {} }: Stranger, method: string, params: unknown): Promise<string> {
  const { status, headers, text } = await client.rpc(method, params, { ...as, id: 'same' });
  const { date: _, ...others } = headers;
  return JSON.stringify([status, others, text]);
}

async function assertTellsNothing(stranger: Stranger, taskId: string): Promise<void> {
  for (const [method, params] of CALLS) {
    const foreign = await answerOf(stranger, method, params(taskId));
    assert.match(foreign, /-32001/, `${stranger.name}: ${method}`);
    assert.equal(foreign, await answerOf(stranger, method, params(randomUUID())), `${stranger.name}: ${method}`);
  }
}

async function assertListsNothing(stranger: Stranger, { id = '', contextId = '' }): Promise<void> {
  for (const filter of [{}, { contextId }]) {
    const { text } = await stranger.client.rpc('ListTasks', filter, stranger.as);
    assert.equal(text.includes(id), false, `${stranger.name}: ListTasks`);
  }
}

const EDGES: readonly (readonly [string, () => Promise<{ owner: Caller; strangers: readonly Stranger[] }>])[] = [
  [
    '/rovo/a2a',
    async () => ({
      owner: createCaller(world.jira(), '/rovo/a2a'),
      strangers: [
        { name: 'another user', client: world.jira(), as: { as: 'bob' } },
        { name: 'the same user at another site', client: world.jira(), as: { site: 'harbor' } },
        { name: 'another user at another site', client: world.jira(), as: { as: 'dan', site: 'harbor' } },
        { name: 'another user at the other process', client: world.jira(second), as: { as: 'bob' } },
        { name: 'somebody at the other edge', client: await world.a2a('alice') },
      ],
    }),
  ],
  [
    '/a2a',
    async () => ({
      owner: createCaller(await world.a2a('alice'), '/a2a'),
      strangers: [
        { name: 'another user', client: await world.a2a('bob') },
        { name: 'the same user of another tenant', client: await world.a2a('alice', { tenant: 't2' }) },
        { name: 'another user of another tenant', client: await world.a2a('bob', { tenant: 't2' }) },
        { name: 'another user at the other process', client: await world.a2a('bob', { service: second }) },
        { name: 'somebody at the other edge', client: world.jira() },
      ],
    }),
  ],
];

for (const [edge, open] of EDGES) {
  describe(`ownership on ${edge}`, () => {
    test(`${edge}: no call of anybody else reads, cancels, subscribes to or continues a running task, byte for byte [3.3.2-no-hint, 3.3.2-same, 13.1-scoped, 13.1-get]`, async () => {
      const { owner, strangers } = await open();
      const place = world.outside.place({ closed: true });
      const taskId = await owner.start([`call ${place.name}`, 'complete Done.']);
      await place.reached();
      for (const stranger of strangers) await assertTellsNothing(stranger, taskId);
      place.open();
      const done = await owner.ended(taskId);
      assert.equal(done.status.state, 'TASK_STATE_COMPLETED', 'nobody canceled it');
      assert.equal(done.history?.length, 1, 'nobody wrote into it');
    });

    test(`${edge}: the same for a task that waits for its user and for one that has ended, and no list shows them [3.1.4-own-tasks, 13.1-list, 13.1-without-filter]`, async () => {
      const { owner, strangers } = await open();
      const asked = await owner.send(['ask Which one?']);
      const ended = await owner.send(['complete Done.']);
      for (const stranger of strangers) {
        for (const task of [asked.task, ended.task]) {
          await assertTellsNothing(stranger, String(task?.id));
          await assertListsNothing(stranger, { id: task?.id ?? '', contextId: task?.contextId ?? '' });
        }
      }
      const own = await owner.client.rpc('ListTasks', { contextId: asked.task?.contextId });
      assert.ok(own.text.includes(String(asked.task?.id)));
    });

    test(`${edge}: a foreign contextId and a new one are answered alike: a context of one’s own under that id`, async () => {
      const { owner, strangers } = await open();
      for (const { client, as, name } of strangers) {
        const { task } = await owner.send(['complete The-owner-said-this.']);
        const texts: string[] = [];
        for (const contextId of [String(task?.contextId), randomUUID()]) {
          const { task: own } = await client.rpc('SendMessage', script(['earlier'], { contextId }), as);
          assert.deepEqual([own?.contextId, own?.status.state], [contextId, 'TASK_STATE_COMPLETED'], name);
          assert.notEqual(own?.id, task?.id);
          texts.push(JSON.stringify(own?.status.message?.parts));
        }
        assert.equal(texts[0], texts[1], `${name} heard nothing of the owner`);
        assert.doesNotMatch(texts.join(), /The-owner-said-this/);
      }
    });

    test(`${edge}: the owner finds a task at once and every time, at both processes [3.4.2-returned]`, async () => {
      const { owner } = await open();
      const other = edge === '/a2a' ? await world.a2a('alice', { service: second }) : world.jira(second);
      for (let round = 0; round < 5; round += 1) {
        const taskId = await owner.start(['complete Done.']);
        const found = await Promise.all([
          owner.client.get(taskId),
          other.get(taskId),
          other.rpc('GetTask', { id: taskId }),
        ]);
        assert.deepEqual(
          found.map(({ task }) => task?.id),
          [taskId, taskId, taskId],
        );
      }
    });
  });
}
