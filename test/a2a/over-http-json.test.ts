import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type MessageChanges, script, startWorld, type World } from '../e2e/world.ts';
import { type Person, personAt } from './person.ts';

/* What tests of the whole service say about JSON-RPC, said about HTTP+JSON. */

let world: World;
let alice: Person;
let bob: Person;
before(async () => {
  const settings = { MAX_BODY_BYTES: '200000', A2A_PUSH: 'on', LOG_LEVEL: 'debug' };
  world = await startWorld({ agent: 'rerun', settings });
  alice = await personAt(world, 'alice');
  bob = await personAt(world, 'bob');
});
after(() => world.close());

const send = (person: Person, lines: readonly string[], changes?: MessageChanges) =>
  person.rest('POST /message:send', { body: script(lines, changes) });
const totalSize = async (person: Person) => (await person.rest('GET /tasks')).json.totalSize as number;
const reasonOf = (answer: { json: { error: { details: readonly { reason: string }[] } } }) =>
  answer.json.error.details[0]?.reason;
/** Texts of a database, a file system or a stack have no place in an answer. */
const INNER = /sqlite|select |insert |constraint|\/dist\/|node_modules|at \w+ \(/i;

test('HTTP+JSON of the service: a task is one and the same in both bindings', async () => {
  const sent = await send(alice, ['artifact brief plain 100', 'complete Done.']);
  assert.equal(sent.status, 200, sent.text);
  const { id } = sent.json.task;
  const got = await alice.rest(`GET /tasks/${id}`);
  assert.deepEqual(got.json, sent.json.task);
  assert.deepEqual((await alice.rpc('GetTask', { id })).json.result, got.json);
  const again = await alice.rpc('GetTask', { id, historyLength: 0 });
  assert.deepEqual((await alice.rest(`GET /tasks/${id}?historyLength=0`)).json, again.json.result);
});

test('HTTP+JSON of the service: one message sent over both bindings is one task', async () => {
  const params = script(['complete Once.']);
  const first = await alice.rest('POST /message:send', { body: params });
  const second = await alice.rpc('SendMessage', params);
  assert.equal(second.json.result.task.id, first.json.task.id);
  const other = { message: { ...params.message, parts: [{ text: 'complete Twice.' }] } };
  const conflict = await alice.rest('POST /message:send', { body: other });
  assert.deepEqual([conflict.status, reasonOf(conflict)], [409, 'MESSAGE_ID_CONFLICT']);
  assert.doesNotMatch(conflict.text, new RegExp(first.json.task.id));
});

test('HTTP+JSON of the service: a stream is the events of the task, and a subscription goes on with them', async () => {
  const place = world.outside.place({ closed: true });
  const { origin } = world.service();
  const token = await world.issuer.token('alice');
  const headers = { 'A2A-Version': '1.0', Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify(script([`call ${place.name}`, 'complete Done.']));
  const leaving = new AbortController();
  const streaming = await fetch(`${origin}/a2a/v1/message:stream`, {
    ...{ method: 'POST', headers, body },
    signal: leaving.signal,
  });
  assert.equal(streaming.headers.get('content-type'), 'text/event-stream');
  const { taskId } = await place.reached();
  leaving.abort();
  const subscription = await fetch(`${origin}/a2a/v1/tasks/${taskId}:subscribe`, { headers });
  let text = '';
  for await (const chunk of (subscription.body ?? assert.fail()).pipeThrough(new TextDecoderStream())) {
    // The task is on the stream, so the stream is behind it.
    if (text === '') place.open();
    text += chunk;
  }
  const events = text.split('\n\n').filter((block) => block.startsWith('id: '));
  const frames = events.map((block) => JSON.parse(block.split('\ndata: ')[1] ?? ''));
  assert.equal(frames[0].task.id, taskId);
  assert.equal(frames.at(-1).statusUpdate.status.state, 'TASK_STATE_COMPLETED');
  const late = await alice.rest(`GET /tasks/${taskId}:subscribe`);
  assert.deepEqual([late.status, reasonOf(late)], [400, 'UNSUPPORTED_OPERATION']);
});

type Message = ReturnType<typeof script>['message'];
const FAULTY: readonly (readonly [string, string, (message: Message) => unknown])[] = [
  ['no messageId', 'message.messageId', ({ messageId: _, ...rest }) => rest],
  ['a blank messageId', 'message.messageId', (message) => ({ ...message, messageId: '  ' })],
  ['a messageId of 100 kB', 'message.messageId', (message) => ({ ...message, messageId: 'x'.repeat(100_000) })],
  ['a contextId of 10 kB', 'message.contextId', (message) => ({ ...message, contextId: 'x'.repeat(10_000) })],
  ['the role of 0.3', 'message.role', (message) => ({ ...message, role: 'user' })],
  ['no parts', 'message.parts', (message) => ({ ...message, parts: [] })],
  ['a part of nothing', 'message.parts[0]', (message) => ({ ...message, parts: [{}] })],
  ['a NUL in the text', 'message.parts[0].text', (message) => ({ ...message, parts: [{ text: 'a\0b' }] })],
  ['no message', 'message', () => undefined],
];
for (const [name, field, change] of FAULTY) {
  test(`HTTP+JSON of the service: ${name} answers 400 naming the field, runs nothing and leaves no trace`, async () => {
    const before = await totalSize(alice);
    const place = world.outside.place();
    const params = script([`call ${place.name}`, 'complete']);
    const answer = await alice.rest('POST /message:send', { body: { ...params, message: change(params.message) } });
    assert.equal(answer.status, 400);
    assert.ok(answer.text.includes(`"field":"${field}"`), answer.text.slice(0, 500));
    assert.doesNotMatch(answer.text, INNER);
    assert.ok(answer.text.length < 2_000, 'no echo of what was sent');
    assert.equal(await totalSize(alice), before);
    assert.equal(place.calls.length, 0);
  });
}

test('HTTP+JSON of the service: a body over the limit is 413 in JSON, a data part that is null survives', async () => {
  const over = await send(alice, ['complete', `# ${'x'.repeat(200_000)}`]);
  assert.deepEqual([over.status, over.json.error.code], [413, 413]);
  const params = script(['complete']);
  const parts = [...params.message.parts, { data: null, mediaType: 'application/json' }];
  const body = { ...params, message: { ...params.message, parts } };
  const { task } = (await alice.rest('POST /message:send', { body })).json;
  assert.deepEqual((await alice.rest(`GET /tasks/${task.id}`)).json.history[0].parts, parts);
});

test('HTTP+JSON of the service: without a token 401, a challenge, JSON, and no task', async () => {
  const before = await totalSize(alice);
  const nobody = await personAt(world, null);
  for (const answer of [
    await send(nobody, ['complete']),
    await nobody.rest('GET /tasks/nope'),
    await nobody.rest('GET /extendedAgentCard'),
  ]) {
    assert.equal(answer.status, 401);
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="a2a"');
    assert.equal(answer.json.error.status, 'UNAUTHENTICATED');
  }
  assert.equal(await totalSize(alice), before);
});

test('HTTP+JSON of the service: somebody else’s task is one that never was, on every path', async () => {
  const { id } = (await send(alice, ['ask Which one?'])).json.task;
  const lines = (task: string) => [
    ...[`GET /tasks/${task}`, `POST /tasks/${task}:cancel`, `POST /tasks/${task}:subscribe`],
    ...[`GET /tasks/${task}/pushNotificationConfigs`, `GET /tasks/${task}/pushNotificationConfigs/p`],
    `DELETE /tasks/${task}/pushNotificationConfigs/p`,
  ];
  const nowhere = randomUUID();
  for (const [index, line] of lines(id).entries()) {
    const foreign = await bob.rest(line);
    const missing = await bob.rest(lines(nowhere)[index] ?? '');
    assert.equal(foreign.status, 404, line);
    assert.equal(foreign.text, missing.text, line);
  }
  const message = await send(bob, ['complete'], { taskId: id });
  assert.equal(message.text, (await send(bob, ['complete'], { taskId: nowhere })).text);
  assert.equal((await alice.rest(`POST /t2/tasks/${id}:cancel`)).status, 400, 'a tenant that is not hers');
  assert.equal((await alice.rest(`POST /t1/tasks/${id}:cancel`)).json.status.state, 'TASK_STATE_CANCELED');
});

test('HTTP+JSON of the service: historyLength, taskId and contextId mean what they mean over JSON-RPC', async () => {
  const { id: taskId, contextId } = (await send(alice, ['ask One?'])).json.task;
  assert.equal((await send(alice, ['complete'], { taskId, contextId: 'other' })).status, 400);
  assert.equal((await send(alice, ['complete'], { taskId: 'nope' })).status, 404);
  const last = await send(alice, ['complete Done.'], { taskId, historyLength: 1 });
  assert.equal(last.json.task.contextId, contextId);
  assert.deepEqual(
    last.json.task.history.map(({ parts }: Message) => parts[0]?.text),
    ['complete Done.'],
  );
  const late = await send(alice, ['complete Late.'], { taskId });
  assert.deepEqual([late.status, reasonOf(late)], [400, 'UNSUPPORTED_OPERATION']);
  const canceled = await alice.rest(`POST /tasks/${taskId}:cancel`);
  assert.deepEqual([canceled.status, reasonOf(canceled)], [400, 'TASK_NOT_CANCELABLE']);
  const references = script(['complete']);
  const message = { ...references.message, referenceTaskIds: [taskId] };
  const { task } = (await alice.rest('POST /message:send', { body: { message } })).json;
  assert.deepEqual(task.history[0].referenceTaskIds, [taskId]);
});

test('HTTP+JSON of the service: a list has its four fields, its filters and pages that end', async () => {
  const carol = await personAt(world, 'carol');
  assert.deepEqual((await carol.rest('GET /tasks')).json, { tasks: [], totalSize: 0, pageSize: 50, nextPageToken: '' });
  const ids: string[] = [];
  for (let made = 0; made < 5; made += 1) ids.push((await send(carol, ['ask Which one?'])).json.task.id);
  await send(carol, ['artifact a plain 10', 'complete Done.'], { taskId: ids[2] ?? '' });
  const waiting = await carol.rest('GET /tasks?status=TASK_STATE_INPUT_REQUIRED&pageSize=100');
  assert.deepEqual(
    waiting.json.tasks.map((task: { id: string }) => task.id),
    ids.filter((_, index) => index !== 2).toReversed(),
  );
  const [done] = (await carol.rest('GET /tasks?status=TASK_STATE_COMPLETED')).json.tasks;
  assert.equal('artifacts' in done, false);
  const [full] = (await carol.rest('GET /tasks?status=TASK_STATE_COMPLETED&includeArtifacts=true')).json.tasks;
  assert.equal(full.artifacts.length, 1);
  const since = encodeURIComponent(done.status.timestamp);
  assert.deepEqual((await carol.rest(`GET /tasks?statusTimestampAfter=${since}`)).json.totalSize, 1);
  const seen: string[] = [];
  let token = '';
  do {
    const page = (await carol.rest(`GET /tasks?page_size=2&page_token=${encodeURIComponent(token)}`)).json;
    seen.push(...page.tasks.map((task: { id: string }) => task.id));
    token = page.nextPageToken;
    assert.ok(seen.length <= 5, 'no endless loop');
    if (token !== '') assert.equal((await bob.rest(`GET /tasks?pageToken=${encodeURIComponent(token)}`)).status, 400);
  } while (token !== '');
  assert.deepEqual(seen.toSorted(), ids.toSorted());
});

test('HTTP+JSON of the service: a call without A2A-Version speaks 0.3, which this binding does not', async () => {
  const { id } = (await send(alice, ['complete'])).json.task;
  for (const version of ['', '0.3', '1.1']) {
    const answer = await alice.rest(`GET /tasks/${id}`, { headers: { 'A2A-Version': version } });
    assert.deepEqual([answer.status, reasonOf(answer)], [400, 'VERSION_NOT_SUPPORTED']);
    assert.match(answer.json.error.message, /A2A-Version: 1\.0|Supported A2A versions: 1\.0/);
  }
  const asked = await alice.rest(`GET /tasks/${id}?A2A-Version=1.0`, { headers: { 'A2A-Version': '' } });
  assert.equal(asked.json.id, id);
});

test('push configs of the service: they live with their task, in both bindings, and their secrets stay inside [13.2-secrets]', async () => {
  const secrets = { token: 'hunter-two', authentication: { scheme: 'Bearer', credentials: 'hunter-three' } };
  const params = script(['complete Done.']);
  const inline = { taskPushNotificationConfig: { url: 'https://hooks.harbor.example/a', ...secrets } };
  const body = { ...params, configuration: inline };
  const { id: taskId } = (await alice.rest('POST /message:send', { body })).json.task;
  const path = `/tasks/${taskId}/pushNotificationConfigs`;
  const [config] = (await alice.rest(`GET ${path}`)).json.configs;
  assert.deepEqual(config, {
    ...{ id: config.id, taskId, url: 'https://hooks.harbor.example/a' },
    authentication: { scheme: 'Bearer' },
  });
  await alice.rest('POST /message:send', { body });
  assert.equal((await alice.rest(`GET ${path}`)).json.configs.length, 1, 'a repeat brings no second one');
  const late = { id: 'p', url: 'https://hooks.harbor.example/b', ...secrets };
  assert.equal((await alice.rest(`POST ${path}`, { body: late })).json.id, 'p', 'the task is finished');
  const listed = await alice.rpc('ListTaskPushNotificationConfigs', { taskId });
  assert.equal(listed.json.result.configs.length, 2);
  const inner = await alice.rest(`POST ${path}`, { body: { url: 'http://169.254.169.254/x' } });
  assert.deepEqual([inner.status, reasonOf(inner)], [400, 'INVALID_PARAMS']);
  for (let times = 0; times < 2; times += 1) assert.deepEqual((await alice.rest(`DELETE ${path}/p`)).json, {});
  assert.equal((await alice.rest(`GET ${path}/p`)).status, 404);
  assert.doesNotMatch(world.service().output(), /hunter/);
  assert.doesNotMatch(listed.text, /hunter/);
});
