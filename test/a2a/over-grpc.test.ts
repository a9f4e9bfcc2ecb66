import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskState,
} from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import { credentials } from '@grpc/grpc-js';
import { textOf } from '../e2e/agents/texts.ts';
import { type MessageChanges, script, startWorld, type World } from '../e2e/world.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { assertEnded, type GrpcClient, grpcClient, type Operation, readAll } from './grpc.ts';
import { type Person, personAt } from './person.ts';

/* What tests of the whole service say about JSON-RPC, said about gRPC. */

const SETTINGS = { MAX_BODY_BYTES: '400000', A2A_PUSH: 'on', LOG_LEVEL: 'debug', GRPC_PORT: '0' };
/** Of this, 3 s are kept to write down what was interrupted and 1 s to close: turns are stopped at once. */
const NO_DRAIN = { DRAIN_MS: '4000' };

let world: World;
let alice: GrpcClient;
let bob: GrpcClient;
let json: Person;
const closing: (() => void)[] = [];
before(async () => {
  world = await startWorld({ agent: 'rerun', settings: SETTINGS });
  alice = await grpcAt(world.service(), 'alice');
  bob = await grpcAt(world.service(), 'bob');
  json = await personAt(world, 'alice');
});
after(async () => {
  for (const close of closing) close();
  await world.close();
});

/** Where the card says that gRPC is. */
async function addressOf({ origin }: ServiceProcess): Promise<string> {
  const card = (await (await fetch(`${origin}/.well-known/agent-card.json`)).json()) as {
    readonly supportedInterfaces: readonly { readonly url: string; readonly protocolBinding: string }[];
  };
  return card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC')?.url ?? assert.fail();
}

async function grpcAt(service: ServiceProcess, subject: string | null): Promise<GrpcClient> {
  const token = subject === null ? {} : { authorization: `Bearer ${await world.issuer.token(subject)}` };
  return grpcClient({ after: (close) => void closing.push(close) }, await addressOf(service), token);
}

const send = (client: GrpcClient, lines: readonly string[], changes?: MessageChanges) =>
  client.ask('SendMessage', script(lines, changes));
const totalSize = async (client: GrpcClient) => ((await client.ask('ListTasks', {})).json.totalSize ?? 0) as number;
/** Texts of a database, a file system or a stack have no place in an answer. */
const INNER = /sqlite|select |insert |constraint|\/dist\/|node_modules|at \w+ \(/i;

test('gRPC of the service: a task is one and the same in every binding', async () => {
  const sent = await send(alice, ['artifact brief plain 100', 'complete Done.']);
  assert.equal(sent.code, 'OK', sent.text);
  const { id } = sent.json.task;
  const got = await alice.ask('GetTask', { id });
  assert.deepEqual(got.json, sent.json.task);
  assert.deepEqual((await json.rpc('GetTask', { id })).json.result, got.json);
  const bare = await alice.ask('GetTask', { id, historyLength: 0 });
  assert.deepEqual(bare.json, (await json.rpc('GetTask', { id, historyLength: 0 })).json.result);
});

test('gRPC of the service: one message sent over both bindings is one task', async () => {
  const params = script(['complete Once.']);
  const first = await alice.ask('SendMessage', params);
  const second = await json.rpc('SendMessage', params);
  assert.equal(second.json.result.task.id, first.json.task.id);
  const other = { message: { ...params.message, parts: [{ text: 'complete Twice.' }] } };
  const conflict = await alice.ask('SendMessage', other);
  assertEnded(conflict, 'ALREADY_EXISTS', 'MESSAGE_ID_CONFLICT');
  assert.doesNotMatch(JSON.stringify(conflict.trailers.toJSON()), new RegExp(first.json.task.id));
});

test('gRPC of the service: a dropped stream takes nothing away, and a subscription goes on with it', async () => {
  const place = world.outside.place({ closed: true });
  const dropped = alice.open('SendStreamingMessage', script([`call ${place.name}`, 'complete Done.']));
  dropped.on('error', () => undefined);
  await once(dropped, 'data');
  const { taskId } = await place.reached();
  dropped.cancel();
  const subscription = alice.open('SubscribeToTask', { id: taskId });
  const other = alice.open('SubscribeToTask', { id: taskId });
  const replies = [subscription, other].map((call) => readAll('SubscribeToTask', call));
  await Promise.all([once(subscription, 'data'), once(other, 'data')]);
  place.open();
  const [reply, same] = await Promise.all(replies);
  assert.equal(reply?.code, 'OK', reply?.text);
  assert.equal(reply?.events[0].task.id, taskId);
  assert.equal(reply?.events.at(-1).statusUpdate.status.state, 'TASK_STATE_COMPLETED');
  assert.deepEqual(same?.events, reply?.events);
  const late = await alice.read('SubscribeToTask', { id: taskId });
  assertEnded(late, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION');
});

test('gRPC of the service: an artifact of 300 kB comes in messages that every client takes, and equal', async () => {
  for (const kind of ['plain', 'nasty'] as const) {
    const call = alice.open('SendStreamingMessage', script([`artifact big ${kind} 300000`, 'complete Done.']));
    let largest = 0;
    call.on('data', (bytes: Buffer) => {
      largest = Math.max(largest, bytes.length);
    });
    const { code, events } = await readAll('SendStreamingMessage', call);
    assert.equal(code, 'OK');
    assert.ok(largest < 200_000, `${largest} bytes`);
    const chunks = events.flatMap(({ artifactUpdate }) => (artifactUpdate ? [artifactUpdate] : []));
    assert.ok(chunks.length > 4);
    assert.equal(chunks.map(({ artifact }) => artifact.parts[0].text).join(''), textOf(kind, 300_000));
    const { json: task } = await alice.ask('GetTask', { id: events[0].task.id });
    const whole = task.artifacts[0].parts.map(({ text }: { text: string }) => text).join('');
    assert.equal(whole, textOf(kind, 300_000));
  }
});

test('gRPC of the service: the official client reads the card, sends, streams and subscribes', async () => {
  const options = { serviceParameters: { authorization: `Bearer ${await world.issuer.token('alice')}` } };
  const client = await new ClientFactory({
    transports: [new GrpcTransportFactory({ grpcChannelCredentials: credentials.createInsecure() })],
  }).createFromUrl(world.service().origin);
  const params = (lines: readonly string[]) => SendMessageRequest.fromJSON(script(lines));
  const sent = await client.sendMessage(params(['ask Which one?']), options);
  assert.ok('status' in sent);
  const place = world.outside.place({ closed: true });
  const cases: unknown[] = [];
  for await (const { payload } of client.sendMessageStream(params([`call ${place.name}`, 'complete Done.']), options)) {
    cases.push(payload?.$case);
    if (payload?.$case !== 'task') continue;
    const { id } = payload.value;
    for await (const event of client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }), options)) {
      assert.ok(event.payload);
      place.open();
    }
  }
  assert.deepEqual([cases[0], cases.at(-1)], ['task', 'statusUpdate']);
  await assert.rejects(client.getTask(GetTaskRequest.fromJSON({ id: randomUUID() }), options), TaskNotFoundError);
  const canceled = await client.cancelTask(CancelTaskRequest.fromJSON({ id: sent.id }), options);
  assert.equal(canceled.status?.state, TaskState.TASK_STATE_CANCELED);
  const tasks = await client.listTasks(ListTasksRequest.fromJSON({ pageSize: 1 }), options);
  assert.equal(tasks.tasks.length, 1);
});

const FAULTY: readonly (readonly [string, string, object])[] = [
  ['no messageId', 'message.messageId', { messageId: '' }],
  ['a messageId of 100 kB', 'message.messageId', { messageId: 'x'.repeat(100_000) }],
  ['the role of the agent', 'message.role', { role: 'ROLE_AGENT' }],
  ['no parts', 'message.parts', { parts: [] }],
  ['a NUL in the text', 'message.parts[0].text', { parts: [{ text: 'a\0b' }] }],
];
for (const [name, field, changes] of FAULTY) {
  test(`gRPC of the service: ${name} is refused by name, runs nothing and leaves no trace`, async () => {
    const before = await totalSize(alice);
    const place = world.outside.place();
    const params = script([`call ${place.name}`, 'complete']);
    const reply = await alice.ask('SendMessage', { ...params, message: { ...params.message, ...changes } });
    assert.deepEqual(assertEnded(reply, 'INVALID_ARGUMENT', 'INVALID_PARAMS'), [field]);
    assert.doesNotMatch(JSON.stringify(reply.trailers.toJSON()), INNER);
    assert.equal(await totalSize(alice), before);
    assert.equal(place.calls.length, 0);
  });
}

test('gRPC of the service: a message over MAX_BODY_BYTES is refused, the next call is not', async () => {
  const before = await totalSize(alice);
  assert.equal((await send(alice, ['complete', `# ${'x'.repeat(400_000)}`])).code, 'RESOURCE_EXHAUSTED');
  assert.equal(await totalSize(alice), before);
  assert.equal((await send(alice, ['complete', `# ${'x'.repeat(300_000)}`])).code, 'OK');
});

test('gRPC of the service: without a token UNAUTHENTICATED, a challenge, and no task', async () => {
  const before = await totalSize(alice);
  const nobody = await grpcAt(world.service(), null);
  for (const reply of [
    await send(nobody, ['complete']),
    await nobody.read('SendStreamingMessage', script(['complete'])),
    await nobody.ask('GetTask', { id: 'nope' }),
    await nobody.ask('GetExtendedAgentCard', {}),
  ]) {
    assertEnded(reply, 'UNAUTHENTICATED', 'UNAUTHENTICATED');
    assert.deepEqual(reply.trailers.get('www-authenticate'), ['Bearer realm="a2a"']);
  }
  assert.equal(await totalSize(alice), before);
});

test('gRPC of the service: somebody else’s task is one that never was, in every operation', async () => {
  const { id } = (await send(alice, ['ask Which one?'])).json.task;
  const calls = (task: string): readonly (readonly [Operation, object])[] => [
    ['GetTask', { id: task }],
    ['CancelTask', { id: task }],
    ['SubscribeToTask', { id: task }],
    ['ListTaskPushNotificationConfigs', { taskId: task }],
    ['GetTaskPushNotificationConfig', { taskId: task, id: 'p' }],
    ['DeleteTaskPushNotificationConfig', { taskId: task, id: 'p' }],
    ['CreateTaskPushNotificationConfig', { taskId: task, url: 'https://hooks.harbor.example/a' }],
    ['SendMessage', script(['complete'], { taskId: task })],
  ];
  const missing = calls(randomUUID());
  for (const [index, [operation, params]] of calls(id).entries()) {
    const foreign = await bob.ask(operation, params);
    assertEnded(foreign, 'NOT_FOUND', 'TASK_NOT_FOUND');
    const never = await bob.ask(...(missing[index] ?? assert.fail()));
    const shown = ({ trailers, ...rest }: typeof never) => [rest, trailers.get('grpc-status-details-bin')];
    assert.deepEqual(shown(foreign), shown(never), operation);
  }
  assertEnded(await alice.ask('CancelTask', { id, tenant: 't2' }), 'INVALID_ARGUMENT', 'INVALID_PARAMS');
  assert.equal((await alice.ask('CancelTask', { id, tenant: 't1' })).json.status.state, 'TASK_STATE_CANCELED');
});

test('gRPC of the service: follow-ups, finished tasks and cancellations are what they are over JSON-RPC', async () => {
  const { id: taskId, contextId } = (await send(alice, ['ask One?'])).json.task;
  assertEnded(await send(alice, ['complete'], { taskId, contextId: 'other' }), 'INVALID_ARGUMENT', 'INVALID_PARAMS');
  const last = await send(alice, ['complete Done.'], { taskId, historyLength: 1 });
  assert.equal(last.json.task.contextId, contextId);
  assert.deepEqual(
    last.json.task.history.map(({ parts }: { parts: readonly { text: string }[] }) => parts[0]?.text),
    ['complete Done.'],
  );
  const late = await send(alice, ['complete Late.'], { taskId });
  assertEnded(late, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION');
  const canceled = await alice.ask('CancelTask', { id: taskId });
  assertEnded(canceled, 'FAILED_PRECONDITION', 'TASK_NOT_CANCELABLE');
});

test('gRPC of the service: a list has its four fields, its filters and pages that end', async () => {
  const carol = await grpcAt(world.service(), 'carol');
  const ids: string[] = [];
  for (let made = 0; made < 5; made += 1) ids.push((await send(carol, ['ask Which one?'])).json.task.id);
  await send(carol, ['artifact a plain 10', 'complete Done.'], { taskId: ids[2] ?? '' });
  const waiting = await carol.ask('ListTasks', { status: 'TASK_STATE_INPUT_REQUIRED', pageSize: 100 });
  assert.deepEqual(
    waiting.json.tasks.map((task: { id: string }) => task.id),
    ids.filter((_, index) => index !== 2).toReversed(),
  );
  const [done] = (await carol.ask('ListTasks', { status: 'TASK_STATE_COMPLETED' })).json.tasks;
  assert.equal('artifacts' in done, false);
  const since = { statusTimestampAfter: done.status.timestamp, includeArtifacts: true };
  const { json: newest } = await carol.ask('ListTasks', since);
  assert.deepEqual([newest.totalSize, newest.tasks[0].artifacts.length], [1, 1]);
  const seen: string[] = [];
  let pageToken = '';
  do {
    const { json: page } = await carol.ask('ListTasks', { pageSize: 2, pageToken });
    seen.push(...page.tasks.map((task: { id: string }) => task.id));
    pageToken = page.nextPageToken ?? '';
    assert.ok(seen.length <= 5, 'no endless loop');
    if (pageToken !== '') assert.equal((await bob.ask('ListTasks', { pageToken })).code, 'INVALID_ARGUMENT');
  } while (pageToken !== '');
  assert.deepEqual(seen.toSorted(), ids.toSorted());
});

test('gRPC of the service: push configs live with their task, and their secrets stay inside', async () => {
  const secrets = { token: 'hunter-two', authentication: { scheme: 'Bearer', credentials: 'hunter-three' } };
  const url = 'https://hooks.harbor.example/a';
  const configuration = { taskPushNotificationConfig: { url, ...secrets } };
  const params = { ...script(['complete Done.']), configuration };
  const { id: taskId } = (await alice.ask('SendMessage', params)).json.task;
  const { configs } = (await alice.ask('ListTaskPushNotificationConfigs', { taskId })).json;
  assert.deepEqual(configs, [{ id: configs[0].id, taskId, url, authentication: { scheme: 'Bearer' } }]);
  const created = await alice.ask('CreateTaskPushNotificationConfig', { taskId, id: 'p', url, ...secrets });
  const got = await alice.ask('GetTaskPushNotificationConfig', { taskId, id: 'p' });
  assert.deepEqual(got.json, created.json);
  for (let times = 0; times < 2; times += 1) {
    assert.equal((await alice.ask('DeleteTaskPushNotificationConfig', { taskId, id: 'p' })).code, 'OK');
  }
  assert.equal((await alice.ask('GetTaskPushNotificationConfig', { taskId, id: 'p' })).code, 'NOT_FOUND');
  const inner = await alice.ask('CreateTaskPushNotificationConfig', { taskId, url: 'http://169.254.169.254/x' });
  assert.deepEqual(assertEnded(inner, 'INVALID_ARGUMENT', 'INVALID_PARAMS'), ['url']);
  assert.doesNotMatch(world.service().output(), /hunter/);
});

test('gRPC of the service: a client that leaves a wait ends no task', async () => {
  const place = world.outside.place({ closed: true });
  const leaving = new AbortController();
  const params = script([`call ${place.name}`, 'complete Done.']);
  const reply = alice.ask('SendMessage', params, { signal: leaving.signal });
  const { taskId } = await place.reached();
  leaving.abort();
  assert.equal((await reply).code, 'CANCELLED');
  const short = await alice.ask('SendMessage', params, { deadline: Date.now() + 200 });
  assert.equal(short.code, 'DEADLINE_EXCEEDED');
  place.open();
  const { events } = await alice.read('SubscribeToTask', { id: taskId });
  const again = events.length > 0 ? events.at(-1).statusUpdate.status : undefined;
  const task = await alice.ask('SendMessage', params);
  assert.equal((again ?? task.json.task.status).state, 'TASK_STATE_COMPLETED');
  assert.equal(task.json.task.id, taskId);
  assert.equal(place.calls.length, 1);
});

test('gRPC of the service: SIGTERM ends a stream between two events, and it goes on elsewhere', async () => {
  const settings = { DATABASE_URL: 'sqlite:./drained.db', ...NO_DRAIN };
  const first = await world.start(settings);
  const client = await grpcAt(first, 'alice');
  const call = client.open('SendStreamingMessage', script(['slowly log 25 20 40', 'complete Done.']));
  let told = false;
  call.on('data', (bytes: Buffer) => {
    if (told || !bytes.includes('[6]')) return;
    told = true;
    first.signal('SIGTERM');
  });
  const stream = await readAll('SendStreamingMessage', call);
  assert.equal(stream.code, 'OK', stream.text);
  assert.equal(await first.exited(), 0);
  assert.equal((await client.ask('GetTask', { id: 'x' })).code, 'UNAVAILABLE');

  const second = await grpcAt(await world.start(settings), 'alice');
  const whole = await second.read('SubscribeToTask', { id: stream.events[0].task.id });
  assert.equal(whole.events.at(-1).statusUpdate.status.state, 'TASK_STATE_COMPLETED');
});

test('gRPC of the service: with time to drain the turn ends, its stream sees the end, and no new call is taken', async () => {
  const service = await world.start({ DATABASE_URL: 'sqlite:./patient.db', DRAIN_MS: '15000' });
  const client = await grpcAt(service, 'alice');
  const other = await grpcAt(service, 'alice');
  assert.equal(await totalSize(other), 0);
  const place = world.outside.place({ closed: true });
  const streaming = client.read('SendStreamingMessage', script([`call ${place.name}`, 'complete Done.']));
  await place.reached();
  service.signal('SIGTERM');
  await service.logged('service.stopping');
  for (const each of [client, other]) assert.equal((await send(each, ['complete'])).code, 'UNAVAILABLE');
  place.open();
  const { code, events } = await streaming;
  assert.equal(code, 'OK');
  assert.equal(events.at(-1).statusUpdate.status.state, 'TASK_STATE_COMPLETED');
  assert.equal(await service.exited(), 0);
});
