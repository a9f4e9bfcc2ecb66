import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { script, startWorld, type World } from '../e2e/world.ts';
import { type HttpAnswer, type Person, personAt } from './person.ts';

/*
 * Every operation of A2A over both bindings of the shipped service: the same call has the same result, the same fault the
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
const OPERATIONS: Readonly<Record<string, Operation>> = {
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
const ALL = Object.entries(OPERATIONS);

/** The same message each time, so that both bindings are answered with one task. */
function followUp(taskId: string) {
  const text = 'complete Together.';
  return { message: { messageId: `follow-up-${taskId}`, role: 'ROLE_USER', parts: [{ text }], taskId } };
}

let world: World;
let alice: Person;
before(async () => {
  world = await startWorld({ agent: 'rerun', settings: { A2A_PUSH: 'on' } });
  alice = await personAt(world, 'alice');
});
after(() => world.close());

async function parked(): Promise<Ids> {
  const { json } = await alice.rpc('SendMessage', script(['ask Which one?']));
  return { taskId: json.result.task.id, configId: 'p1' };
}

async function both(person: Person, [name, operation]: (typeof ALL)[number], ids: Ids) {
  const line = operation.line(ids);
  const body = (operation.body ?? operation.params)(ids);
  return {
    overRpc: await person.rpc(name, operation.params(ids)),
    overHttp: await person.rest(line, line.startsWith('POST') ? { body } : {}),
  };
}

/** What a stream or an answer holds, without what a binding puts around it. */
function contentOf(answer: HttpAnswer): unknown {
  if (answer.headers.get('content-type') !== 'text/event-stream') {
    return 'jsonrpc' in answer.json ? (answer.json.result ?? {}) : answer.json;
  }
  return framesOf(answer.text);
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

function errorOf({ json }: HttpAnswer): unknown {
  const { message, data, details } = json.error;
  return [message, data ?? details];
}

test('parity: every operation has the same result over both bindings [3.1-operations, 4-equivalent, 5.1-functions, 5.1-results]', async () => {
  const ids = await parked();
  // The subscription is read to its end, which a task that waits does not come to.
  for (const each of ALL.filter(([name]) => name !== 'SubscribeToTask' && name !== 'CancelTask')) {
    const { overRpc, overHttp } = await both(alice, each, ids);
    assert.deepEqual([overRpc.status, overHttp.status, overRpc.json?.error], [200, 200, undefined], each[0]);
    assert.deepEqual(contentOf(overRpc), contentOf(overHttp), each[0]);
  }
  const canceled = await both(alice, ['CancelTask', OPERATIONS.CancelTask ?? assert.fail()], await parked());
  assert.deepEqual(contentOf(canceled.overRpc), contentOf(canceled.overHttp));
  assert.deepEqual((contentOf(canceled.overHttp) as { status: { state: string } }).status.state, 'TASK_STATE_CANCELED');
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
  // Each has its first line, so each is there for all that follows.
  place.open();
  const [first = [], ...others] = await Promise.all(streams.map(async (stream) => framesOf(await stream.text())));
  assert.deepEqual(
    first.map((frame) => Object.keys(frame as object)[0]),
    ['task', 'artifactUpdate', 'statusUpdate', 'artifactUpdate', 'statusUpdate'],
  );
  for (const frames of others) assert.deepEqual(frames, first);
});

test('parity: every operation on a task that does not exist is the same error over both bindings [5.1-errors, 3.3.2-mapped, 3.3.2-not-found]', async () => {
  const nowhere = { taskId: randomUUID(), configId: 'p1' };
  for (const each of ALL.filter(([, { general }]) => !general)) {
    const { overRpc, overHttp } = await both(alice, each, nowhere);
    assert.deepEqual([overRpc.json.error.code, overHttp.status, overHttp.json.error.code], [-32001, 404, 404], each[0]);
    assert.deepEqual(errorOf(overRpc), errorOf(overHttp), each[0]);
  }
});

test('parity: every operation is for callers with a token, over both bindings [5.1-authentication, 7.4-every-request, 13.1-every-operation, 14.1.1-auth]', async () => {
  const ids = await parked();
  const nobody = await personAt(world, null);
  for (const each of ALL) {
    const { overRpc, overHttp } = await both(nobody, each, ids);
    for (const answer of [overRpc, overHttp]) {
      assert.equal(answer.status, 401, each[0]);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="a2a"');
    }
  }
});

test('parity: every operation on somebody else’s task is answered like one that never was [13.1-others, 13.1-first]', async () => {
  const ids = await parked();
  const nowhere = { ...ids, taskId: randomUUID() };
  const bob = await personAt(world, 'bob');
  for (const each of ALL.filter(([, { general }]) => !general)) {
    const foreign = await both(bob, each, ids);
    const missing = await both(bob, each, nowhere);
    assert.deepEqual([foreign.overRpc.json.error.code, foreign.overHttp.status], [-32001, 404], each[0]);
    assert.equal(foreign.overRpc.text, missing.overRpc.text, each[0]);
    assert.equal(foreign.overHttp.text, missing.overHttp.text, each[0]);
  }
  const { json } = await alice.rest(`GET /tasks/${ids.taskId}`);
  assert.equal(json.status.state, 'TASK_STATE_INPUT_REQUIRED', 'nobody touched it');
  assert.equal(json.history.length, 1);
});
