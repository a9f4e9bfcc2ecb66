import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { statusText } from '../../simulator/client/a2a.ts';
import { PLACEHOLDER_MESSAGE_ID } from '../../simulator/client/messages.ts';
import { until } from '../support/until.ts';
import { bothEdges, type Caller, createCaller } from './callers.ts';
import { script, startWorld, type World } from './world.ts';

let world: World;
let callers: readonly Caller[];
before(async () => {
  world = await startWorld({ agent: 'rerun', settings: { ROVO_WAIT_MS: '4000' } });
  callers = await bothEdges(world);
});
after(() => world.close());

test('20 parallel identical SendMessage: 20 answers, one task, one run', async () => {
  for (const { client, edge } of callers) {
    const place = world.outside.place();
    const params = script([`call ${place.name}`, 'complete Done.']);
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.rpc('SendMessage', params)));
    assert.deepEqual(new Set(answers.map(({ faults }) => faults.join())), new Set(['']), edge);
    assert.equal(new Set(answers.map(({ task }) => task?.id)).size, 1);
    assert.ok(answers.every(({ task }) => task?.status.state === 'TASK_STATE_COMPLETED'));
    assert.equal(place.calls.length, 1);
  }
});

test('a lost answer: the socket dies before it, the repeat gets the same task and nothing ran twice', async () => {
  const alice = callers[1] as Caller;
  const place = world.outside.place({ closed: true });
  const params = script([`call ${place.name}`, 'complete Done.']);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
  const { port } = new URL(world.service().origin);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(
    `POST /a2a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\nAuthorization: Bearer ${await world.issuer.token('alice')}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const { taskId } = await place.reached();
  socket.destroy();
  place.open();
  const again = await alice.client.rpc('SendMessage', {}, { body, id: 1 });
  assert.deepEqual([again.task?.id, again.task?.status.state], [taskId, 'TASK_STATE_COMPLETED']);
  assert.equal(place.calls.length, 1);
});

test('a repeat of a finished send is the stored task, run once', async () => {
  for (const caller of callers) {
    const place = world.outside.place();
    const messageId = randomUUID();
    const lines = [`call ${place.name}`, 'complete Done.'];
    const [first, second] = [await caller.send(lines, { messageId }), await caller.send(lines, { messageId })];
    assert.deepEqual(second.task, first.task);
    assert.equal(place.calls.length, 1);
  }
});

test('a repeat while the first still works: the task at once, or its end when it waits, or its stream', async () => {
  for (const caller of callers) {
    const place = world.outside.place({ closed: true });
    const messageId = randomUUID();
    const lines = [`call ${place.name}`, 'complete Done.'];
    const taskId = await caller.start(lines, { messageId });
    await place.reached();
    const now = await caller.send(lines, { messageId, returnImmediately: true });
    assert.deepEqual([now.task?.id, now.task?.status.state], [taskId, 'TASK_STATE_WORKING']);
    const joined = caller.send(lines, { messageId });
    const streamed = caller.stream(lines, { messageId, onFrame: () => place.open() });
    const [sent, stream] = [await joined, await streamed];
    assert.deepEqual([sent.task?.id, sent.task?.status.state], [taskId, 'TASK_STATE_COMPLETED']);
    assert.deepEqual([stream.faults, stream.task?.id, stream.task?.status.state], [[], taskId, 'TASK_STATE_COMPLETED']);
    assert.equal(place.calls.length, 1);
  }
});

test('the same id with other content: a conflict that shows nothing of the first, which goes on untouched', async () => {
  for (const caller of callers) {
    const place = world.outside.place({ closed: true });
    const messageId = randomUUID();
    const taskId = await caller.start([`call ${place.name}`, 'complete First-secret.'], { messageId });
    const other = world.outside.place();
    const conflict = await caller.send([`call ${other.name}`, 'complete Second.'], { messageId });
    assert.equal(conflict.error?.code, -32602);
    assert.match(conflict.text, /"reason":"MESSAGE_ID_CONFLICT"/);
    assert.doesNotMatch(conflict.text, new RegExp(`First-secret|${taskId}|${place.name}`));
    place.open();
    assert.equal(statusText(await caller.ended(taskId)), 'First-secret.');
    assert.equal(other.calls.length, 0);
  }
});

test('one messageId of three callers: three tasks, and each repeat finds its own', async () => {
  const messageId = randomUUID();
  const owners = [
    callers[1] as Caller,
    createCaller(await world.a2a('bob'), '/a2a'),
    createCaller(await world.a2a('alice', { tenant: 't2' }), '/a2a'),
  ];
  const first = await Promise.all(owners.map((one) => one.send(['complete Done.'], { messageId })));
  const again = await Promise.all(owners.map((one) => one.send(['complete Done.'], { messageId })));
  assert.equal(new Set(first.map(({ task }) => task?.id)).size, 3);
  assert.deepEqual(
    again.map(({ task }) => task),
    first.map(({ task }) => task),
  );
  const other = await Promise.all(owners.slice(0, 2).map((one) => one.send(['complete Other.'], { messageId })));
  assert.deepEqual(
    other.map(({ error }) => error),
    [other[0]?.error, other[0]?.error],
    'a conflict tells nobody whose it is',
  );
});

test('a follow-up sent twice is once in the history and one run; one that is refused is not there', async () => {
  for (const caller of callers) {
    const place = world.outside.place();
    const asked = await caller.send(['ask Which one?']);
    const { id: taskId = '', contextId = '' } = asked.task ?? {};
    const messageId = randomUUID();
    const lines = [`call ${place.name}`, 'ask And then?'];
    const changes = { taskId, messageId, ...(caller.edge === '/rovo/a2a' ? { contextId } : {}) };
    const first = await caller.send(lines, changes);
    const second = await caller.send(lines, changes);
    assert.deepEqual(
      [first.task?.status.state, second.task?.status],
      ['TASK_STATE_INPUT_REQUIRED', first.task?.status],
    );
    const wrong = await caller.send(['complete Wrong.'], { taskId, contextId: randomUUID() });
    assert.equal(wrong.error?.code, -32602);
    const { task } = await caller.client.get(taskId);
    const said = (task?.history ?? []).map(({ messageId: id }) => id);
    assert.equal(said.filter((id) => id === messageId).length, 1);
    assert.equal(JSON.stringify(task).includes('Wrong.'), false);
    assert.equal(place.calls.length, 1);
  }
});

describe('Jira’s placeholder in the place of a messageId', () => {
  const ids = { messageId: PLACEHOLDER_MESSAGE_ID };

  test('two mentions with request-id-missing are two tasks, each with its own answer', async () => {
    const jira = world.jira();
    const [first, second] = [
      await jira.mention('SHOP-1', 'complete About one.', ids).sync(),
      await jira.mention('SHOP-4', 'complete About four.', ids).sync(),
    ];
    assert.deepEqual([first.faults, second.faults], [[], []]);
    assert.notEqual(first.task?.id, second.task?.id);
    assert.deepEqual([statusText(first.task), statusText(second.task)], ['About one.', 'About four.']);
  });

  test('the same mention delivered again, with a new token, is the same task', async () => {
    const place = world.outside.place();
    const mention = world.jira().mention('SHOP-1', `call ${place.name}\ncomplete Once.`, ids);
    const [first, second] = [await mention.sync(), await mention.sync()];
    assert.equal(second.task?.id, first.task?.id);
    assert.equal(place.calls.length, 1);
  });

  test('two chats with the same words are two tasks; one call that comes twice is one', async () => {
    const place = world.outside.place();
    const chat = world.jira().chat(`call ${place.name}\ncomplete Hello.`, ids);
    const [first, second] = [await chat.sync(), await chat.sync()];
    assert.notEqual(second.task?.id, first.task?.id);
    const authorization = `Bearer ${await world.atlassian.mint()}`;
    const [third, fourth] = [await chat.sync({ authorization }), await chat.sync({ authorization })];
    assert.equal(fourth.task?.id, third.task?.id);
    assert.equal(place.calls.length, 3);
  });
});

test('a message that was accepted is there, whatever happens to the connection that brought it', async () => {
  const alice = callers[1] as Caller;
  const place = world.outside.place({ closed: true });
  const left = new AbortController();
  const params = script([`call ${place.name}`, 'complete Done.']);
  const sending = alice.client.rpc('SendMessage', params, { signal: left.signal });
  const { taskId } = await place.reached();
  left.abort();
  await assert.rejects(sending);
  place.open();
  await until(
    'the task is done',
    async () => (await alice.client.get(taskId)).task?.status.state === 'TASK_STATE_COMPLETED',
  );
});
