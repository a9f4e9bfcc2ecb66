import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { script, startWorld, type World } from '../e2e/world.ts';
import { grpcClient, type Operation as Name, readAll } from './grpc.ts';
import { type HttpAnswer, type Person, personAt } from './person.ts';

/*
 * Every operation of A2A over every binding of the shipped service: the same call has the same result, the same fault the
 * same error, and neither is to be had without a token or with somebody else's.
 */

interface Ids {
  readonly taskId: string;
  readonly configId: string;
}

interface Operation {
  readonly line: (ids: Ids) => string;
  /** Of JSON-RPC, and of the body of HTTP+JSON where `body` is not another one. */
  readonly params: (ids: Ids) => object;
  readonly body?: (ids: Ids) => object;
  /** Names no task. */
  readonly general?: true;
}

/** As in a2a.proto, in the order of section 5.3. */
const OPERATIONS: Readonly<Record<Name, Operation>> = {
  SendMessage: { line: () => 'POST /message:send', params: ({ taskId }) => followUp(taskId) },
  SendStreamingMessage: { line: () => 'POST /message:stream', params: ({ taskId }) => followUp(taskId) },
  GetTask: { line: ({ taskId }) => `GET /tasks/${taskId}`, params: ({ taskId: id }) => ({ id }) },
  ListTasks: { line: () => 'GET /tasks?pageSize=3', params: () => ({ pageSize: 3 }), general: true },
  CancelTask: { line: ({ taskId }) => `POST /tasks/${taskId}:cancel`, params: ({ taskId: id }) => ({ id }) },
  SubscribeToTask: { line: ({ taskId }) => `POST /tasks/${taskId}:subscribe`, params: ({ taskId: id }) => ({ id }) },
  CreateTaskPushNotificationConfig: {
    line: ({ taskId }) => `POST /tasks/${taskId}/pushNotificationConfigs`,
    params: ({ taskId, configId: id }) => ({ taskId, id, url: 'https://hooks.harbor.example/x' }),
    body: ({ configId: id }) => ({ id, url: 'https://hooks.harbor.example/x' }),
  },
  GetTaskPushNotificationConfig: {
    line: ({ taskId, configId }) => `GET /tasks/${taskId}/pushNotificationConfigs/${configId}`,
    params: ({ taskId, configId: id }) => ({ taskId, id }),
  },
  ListTaskPushNotificationConfigs: {
    line: ({ taskId }) => `GET /tasks/${taskId}/pushNotificationConfigs`,
    params: ({ taskId }) => ({ taskId }),
  },
  DeleteTaskPushNotificationConfig: {
    line: ({ taskId, configId }) => `DELETE /tasks/${taskId}/pushNotificationConfigs/${configId}`,
    params: ({ taskId, configId: id }) => ({ taskId, id }),
  },
  GetExtendedAgentCard: { line: () => 'GET /extendedAgentCard', params: () => ({}), general: true },
};
const ALL = Object.entries(OPERATIONS) as readonly (readonly [Name, Operation])[];
const OF_A_TASK = ALL.filter(([, { general }]) => !general);

/** The same message each time, so that both bindings are answered with one task. */
function followUp(taskId: string) {
  const text = 'complete Together.';
  return { message: { messageId: `follow-up-${taskId}`, role: 'ROLE_USER', parts: [{ text }], taskId } };
}

let world: World;
let grpcAddress: string;
let alice: Person;
const closing: (() => void)[] = [];
before(async () => {
  world = await startWorld({ agent: 'rerun', settings: { A2A_PUSH: 'on', GRPC_PORT: '0' } });
  alice = await personAt(world, 'alice');
  const card = await (await fetch(`${world.service().origin}/.well-known/agent-card.json`)).json();
  const { supportedInterfaces } = card as { supportedInterfaces: readonly { protocolBinding: string; url: string }[] };
  grpcAddress = supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC')?.url ?? assert.fail();
});
after(() => {
  for (const close of closing) close();
  return world.close();
});

async function parked(): Promise<Ids> {
  const { json } = await alice.rpc('SendMessage', script(['ask Which one?']));
  return { taskId: json.result.task.id, configId: 'p1' };
}

/** How a call ended, in the words of JSON-RPC, HTTP and gRPC, and what it brought. */
interface Outcome {
  readonly codes: readonly [jsonRpc: number, http: number, grpc: string];
  readonly challenges: readonly unknown[];
  /** Of each binding: message and reason of the error, or undefined. */
  readonly errors: readonly unknown[];
  readonly contents: readonly unknown[];
  readonly texts: readonly string[];
}

async function everywhere(subject: string | null, [name, operation]: (typeof ALL)[number], ids: Ids): Promise<Outcome> {
  const person = await personAt(world, subject);
  const line = operation.line(ids);
  const body = (operation.body ?? operation.params)(ids);
  const rpc = await person.rpc(name, operation.params(ids));
  const rest = await person.rest(line, line.startsWith('POST') ? { body } : {});
  const own: Record<string, string> =
    subject === null ? {} : { authorization: `Bearer ${await world.issuer.token(subject)}` };
  const client = grpcClient({ after: (close) => void closing.push(close) }, grpcAddress, own);
  const streams = name === 'SendStreamingMessage' || name === 'SubscribeToTask';
  const grpc = streams
    ? await client.read(name, operation.params(ids)).then(({ events, ...end }) => ({ ...end, json: events }))
    : await client.ask(name, operation.params(ids));
  return {
    codes: [rpc.json?.error?.code ?? 0, rest.status, grpc.code],
    challenges: [
      rpc.headers.get('www-authenticate'),
      rest.headers.get('www-authenticate'),
      grpc.trailers.get('www-authenticate')[0],
    ],
    errors: [
      rpc.json?.error && [rpc.json.error.message, rpc.json.error.data[0].reason],
      rest.json?.error && [rest.json.error.message, rest.json.error.details[0].reason],
      grpc.reason && [grpc.text, grpc.reason],
    ],
    contents: [contentOf(rpc), contentOf(rest), grpc.json].map((content) => tidy(content ?? {})),
    texts: [rpc.text, rest.text, JSON.stringify(grpc.json ?? [grpc.text, grpc.reason, grpc.fields])],
  };
}

/** What a stream or an answer holds, without what a binding puts around it. */
function contentOf(answer: HttpAnswer): unknown {
  if (answer.headers.get('content-type') !== 'text/event-stream') {
    return 'jsonrpc' in answer.json ? answer.json.result : answer.json;
  }
  return framesOf(answer.text);
}

/** Without the empty values that protobuf has no way to tell from absent ones. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, tidy(member)] as const);
  return Object.fromEntries(members.filter(([, member]) => member !== '' && JSON.stringify(member) !== '[]'));
}

function framesOf(text: string): readonly unknown[] {
  const frames = text.split('\n').filter((line) => line.startsWith('data: '));
  return frames.map((line) => JSON.parse(line.slice(6))).map((frame) => frame.result ?? frame);
}

/** A stream as soon as there is something in it. */
async function open(path: string, body: object): Promise<Response> {
  const token = await world.issuer.token('alice');
  const headers = { 'A2A-Version': '1.0', Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const url = `${world.service().origin}${path}`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  return response;
}

test('parity: every operation has the same result over every binding [3.1-operations, 4-equivalent, 5.1-functions, 5.1-results]', async () => {
  const ids = await parked();
  for (const each of ALL) {
    const [name] = each;
    // Canceling and subscribing need a task that has not ended, and the subscription an end.
    if (name === 'CancelTask' || name === 'SubscribeToTask') continue;
    const { codes, errors, contents } = await everywhere('alice', each, ids);
    assert.deepEqual(
      [codes, errors],
      [
        [0, 200, 'OK'],
        [undefined, undefined, undefined],
      ],
      name,
    );
    const [first, ...others] = contents;
    for (const content of others) assert.deepEqual(content, first, name);
  }
  const canceled = await everywhere('alice', ['CancelTask', OPERATIONS.CancelTask], await parked());
  const [first, ...others] = canceled.contents;
  assert.equal((first as { status: { state: string } }).status.state, 'TASK_STATE_CANCELED');
  for (const content of others) assert.deepEqual(content, first);
});

test('parity: all streams of one task bring the same events in the same order [3.5.2-order, 3.5.2-every-stream, 3.5.2-same-order, 11.7-order]', async () => {
  const place = world.outside.place({ closed: true });
  const params = script([`call ${place.name}`, 'artifact a plain 10', 'say Half.', 'artifact b plain 10', 'complete']);
  const started = await alice.rpc('SendMessage', { ...params, configuration: { returnImmediately: true } });
  const { id } = started.json.result.task;
  await place.reached();
  const rpc = (method: string, of: object) => ({ jsonrpc: '2.0', id: 1, method, params: of });
  const streams = await Promise.all([
    open('/a2a', rpc('SubscribeToTask', { id })),
    open('/a2a', rpc('SendStreamingMessage', params)),
    open(`/a2a/v1/tasks/${id}:subscribe`, {}),
    open('/a2a/v1/message:stream', params),
  ]);
  const authorization = `Bearer ${await world.issuer.token('alice')}`;
  const client = grpcClient({ after: (close) => void closing.push(close) }, grpcAddress, { authorization });
  const subscription = client.open('SubscribeToTask', { id });
  const overGrpc = readAll('SubscribeToTask', subscription);
  await once(subscription, 'data');
  // Each has its first frame, so each is there for all that follows.
  place.open();
  const [first = [], ...others] = await Promise.all(streams.map(async (stream) => framesOf(await stream.text())));
  assert.deepEqual(tidy((await overGrpc).events), tidy(first));
  assert.deepEqual(
    first.map((frame) => Object.keys(frame as object)[0]),
    ['task', 'artifactUpdate', 'statusUpdate', 'artifactUpdate', 'statusUpdate'],
  );
  for (const frames of others) assert.deepEqual(frames, first);
});

test('parity: every operation on a task that does not exist is the same error over every binding [5.1-errors, 3.3.2-mapped, 3.3.2-not-found]', async () => {
  const nowhere = { taskId: randomUUID(), configId: 'p1' };
  for (const each of OF_A_TASK) {
    const { codes, errors } = await everywhere('alice', each, nowhere);
    assert.deepEqual(codes, [-32001, 404, 'NOT_FOUND'], each[0]);
    assert.deepEqual(errors, Array(3).fill(['Task not found', 'TASK_NOT_FOUND']), each[0]);
  }
});

test('parity: every operation is for callers with a token, over every binding [5.1-authentication, 7.4-every-request, 13.1-every-operation, 14.1.1-auth]', async () => {
  const ids = await parked();
  for (const each of ALL) {
    const { codes, challenges } = await everywhere(null, each, ids);
    assert.deepEqual(codes, [-32600, 401, 'UNAUTHENTICATED'], each[0]);
    assert.deepEqual(challenges, Array(3).fill('Bearer realm="a2a"'), each[0]);
  }
});

test('parity: every operation on somebody else’s task is answered like one that never was [13.1-others, 13.1-first]', async () => {
  const ids = await parked();
  const nowhere = { ...ids, taskId: randomUUID() };
  for (const each of OF_A_TASK) {
    const foreign = await everywhere('bob', each, ids);
    const missing = await everywhere('bob', each, nowhere);
    assert.deepEqual(foreign.codes, [-32001, 404, 'NOT_FOUND'], each[0]);
    assert.deepEqual(foreign.texts, missing.texts, each[0]);
  }
  const { json } = await alice.rest(`GET /tasks/${ids.taskId}`);
  assert.equal(json.status.state, 'TASK_STATE_INPUT_REQUIRED', 'nobody touched it');
  assert.equal(json.history.length, 1);
});
