import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PushOptions } from '../../adapters/a2a/push-configs.ts';
import { taskNotFound } from '../../core/errors.ts';
import { createPushOperations } from '../../core/operations/push-configs.ts';
import type { Incoming } from '../../core/ports/edge.ts';
import type { PushConfig } from '../../core/ports/push-configs.ts';
import { assertStatus, rest } from './rest.ts';
import { type Answer, assertRefused, call, send } from './rpc.ts';
import { scriptedOperations, taskIn } from './scripted-operations.ts';
import { edgeOf, OWNER, type Served, serve } from './serve.ts';

const URL = 'https://hooks.harbor.example/x';
const CONFIGS = '/tasks/t1/pushNotificationConfigs';
const SECRETS = { token: 'hunter2', authentication: { scheme: 'Bearer', credentials: 'hunter3' } };

/** Alice's task t1 and its receivers, in memory. */
function pushOf(): PushOptions & { readonly kept: Map<string, PushConfig> } {
  const kept = new Map<string, PushConfig>();
  const own = (owner: typeof OWNER, taskId: string) => {
    if (owner.principal !== OWNER.principal || taskId !== 't1') throw taskNotFound();
  };
  const made = ['made-1', 'made-2', 'made-3', 'made-4', 'made-5', 'made-6'];
  const operations = createPushOperations({
    ids: { next: () => made.shift() ?? assert.fail('more ids than were foreseen') },
    configs: {
      put: async (owner, config) => {
        own(owner, config.taskId);
        kept.set(config.id, config);
      },
      get: async (owner, taskId, id) => {
        own(owner, taskId);
        return kept.get(id);
      },
      list: async (owner, taskId, { after = '', limit }) => {
        own(owner, taskId);
        const all = [...kept.values()].filter(({ id }) => id > after).sort((a, b) => (a.id < b.id ? -1 : 1));
        return { configs: all.slice(0, limit), more: all.length > limit };
      },
      remove: async (owner, taskId, id) => {
        own(owner, taskId);
        kept.delete(id);
      },
    },
  });
  return { operations, kept, destinationFault: (url) => (url === URL ? undefined : 'must be the one') };
}

/** The same operation over both bindings. Answers what both say. */
async function both(served: Served, rpc: readonly [string, object], http: readonly [string, unknown?]) {
  const overRpc = await call(served, ...rpc);
  const overHttp = await rest(served, http[0], http[1] === undefined ? {} : { body: http[1] });
  return { overRpc, overHttp };
}

function assertBoth({ overRpc, overHttp }: { overRpc: Answer; overHttp: Answer }, result: unknown): void {
  assert.deepEqual(overRpc.json.result, result, overRpc.text);
  assert.equal(overHttp.status, 200, overHttp.text);
  assert.deepEqual(overHttp.json, result ?? {});
}

test('push configs: one is created, read, listed and deleted over both bindings, without its secrets [3.1.8-details, 3.1.10-gone, 3.1.10-again]', async (t) => {
  const push = pushOf();
  const served = await serve(t, { push });
  const config = { id: 'p1', url: URL, ...SECRETS };
  const shown = { id: 'p1', taskId: 't1', url: URL, authentication: { scheme: 'Bearer' } };
  const create = { ...config, taskId: 't1' };
  assertBoth(await both(served, ['CreateTaskPushNotificationConfig', create], [`POST ${CONFIGS}`, config]), shown);
  assert.deepEqual(push.kept.get('p1'), create);
  const key = { taskId: 't1', id: 'p1' };
  assertBoth(await both(served, ['GetTaskPushNotificationConfig', key], [`GET ${CONFIGS}/p1`]), shown);
  const list = await both(served, ['ListTaskPushNotificationConfigs', { taskId: 't1' }], [`GET ${CONFIGS}`]);
  assertBoth(list, { configs: [shown] });
  assert.doesNotMatch(list.overRpc.text + list.overHttp.text, /hunter/);
  // Both delete it: the second finds nothing and is no error.
  assertBoth(await both(served, ['DeleteTaskPushNotificationConfig', key], [`DELETE ${CONFIGS}/p1`]), null);
  assert.equal(push.kept.size, 0);
  const gone = await both(served, ['GetTaskPushNotificationConfig', key], [`GET ${CONFIGS}/p1`]);
  assertRefused(gone.overRpc, -32001);
  assertStatus(gone.overHttp, 404, 'TASK_NOT_FOUND');
});

test('push configs: an id that is missing or empty is made by us', async (t) => {
  const served = await serve(t, { push: pushOf() });
  for (const id of [undefined, '', null]) {
    const { overRpc, overHttp } = await both(
      served,
      ['CreateTaskPushNotificationConfig', { taskId: 't1', id, url: URL }],
      [`POST ${CONFIGS}`, { id, url: URL }],
    );
    assert.match(overRpc.json.result.id, /^made-/);
    assert.match(overHttp.json.id, /^made-/);
  }
});

test('push configs: a list goes in pages [3.1.9-all]', async (t) => {
  const push = pushOf();
  const served = await serve(t, { push });
  for (const id of ['p1', 'p2', 'p3']) push.kept.set(id, { id, taskId: 't1', url: URL });
  const first = await rest(served, `GET ${CONFIGS}?pageSize=2`);
  assert.equal(first.json.configs.length, 2);
  const next = await rest(served, `GET ${CONFIGS}?page_size=2&pageToken=${first.json.nextPageToken}`);
  assert.deepEqual([next.json.configs.length, next.json.nextPageToken], [1, undefined]);
  assertStatus(await rest(served, `GET ${CONFIGS}?pageSize=101`), 400, 'INVALID_PARAMS');
});

const FAULTY: readonly (readonly [object, string])[] = [
  [{}, 'url'],
  [{ url: '' }, 'url'],
  [{ url: 5 }, 'url'],
  [{ url: 'https://10.0.0.1' }, 'url'],
  [{ url: URL, id: 'x'.repeat(257) }, 'id'],
  [{ url: URL, token: 'a\r\nX-Evil: 1' }, 'token'],
  [{ url: URL, token: 'x'.repeat(4_097) }, 'token'],
  [{ url: URL, authentication: {} }, 'authentication.scheme'],
  [{ url: URL, authentication: { scheme: 'Bearer x' } }, 'authentication.scheme'],
  [{ url: URL, authentication: { scheme: 'Bearer', credentials: 'a\nb' } }, 'authentication.credentials'],
];
for (const [config, field] of FAULTY) {
  test(`push configs: ${JSON.stringify(config).slice(0, 60)} is refused naming ${field}, alone and with a message`, async (t) => {
    const push = pushOf();
    const served = await serve(t, { push });
    const create = { taskId: 't1', ...config };
    const { overRpc, overHttp } = await both(
      served,
      ['CreateTaskPushNotificationConfig', create],
      [`POST ${CONFIGS}`, config],
    );
    assert.deepEqual(assertRefused(overRpc, -32602), [field]);
    assert.deepEqual(assertStatus(overHttp, 400, 'INVALID_PARAMS'), [field]);
    const sent = await call(served, 'SendMessage', send({}, { configuration: { taskPushNotificationConfig: config } }));
    assert.deepEqual(assertRefused(sent, -32602), [`configuration.taskPushNotificationConfig.${field}`]);
    assert.equal(push.kept.size, 0);
    assert.deepEqual(served.operations.calls, []);
  });
}

test('push configs: with a message it goes into the commit of the message, under an id that a repeat gets again', async (t) => {
  const served = await serve(t, { push: pushOf() });
  const configuration = { taskPushNotificationConfig: { url: URL, taskId: '', ...SECRETS } };
  await call(served, 'SendMessage', send({}, { configuration }));
  await rest(served, 'POST /message:send', { body: send({}, { configuration }) });
  await call(served, 'SendStreamingMessage', send({}, { configuration }));
  await call(served, 'SendMessage', send({ messageId: 'm2' }, { configuration }));
  const configs = served.operations.calls.map(({ args }) => (args[1] as Incoming).pushConfig);
  const [first, second, third, other] = configs;
  assert.deepEqual(first, { id: first?.id, url: URL, ...SECRETS });
  assert.match(first?.id ?? '', /^[0-9a-f]{32}$/);
  assert.deepEqual([second, third], [first, first]);
  assert.notEqual(other?.id, first?.id);
  const named = { taskPushNotificationConfig: { id: 'mine', url: URL, taskId: 't1' } };
  await call(served, 'SendMessage', send({ taskId: 't1' }, { configuration: named }));
  const last = served.operations.calls.map(({ args }) => (args[1] as Incoming).pushConfig).at(-1);
  assert.deepEqual(last, { id: 'mine', url: URL });
});

test('push configs: with a message it cannot name another task', async (t) => {
  const served = await serve(t, { push: pushOf() });
  const configuration = { taskPushNotificationConfig: { url: URL, taskId: 't2' } };
  for (const changes of [{}, { taskId: 't1' }]) {
    const fields = assertRefused(await call(served, 'SendMessage', send(changes, { configuration })), -32602);
    assert.deepEqual(fields, ['configuration.taskPushNotificationConfig.taskId']);
  }
});

test('push configs: off, every way to one answers -32003 whatever else is wrong with it [3.3.4-push]', async (t) => {
  const served = await serve(t);
  for (const line of [`POST ${CONFIGS}`, `GET ${CONFIGS}`, `GET ${CONFIGS}/p`, `DELETE ${CONFIGS}/p`]) {
    assertStatus(
      await rest(served, line, line.startsWith('POST') ? { body: {} } : {}),
      400,
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
    );
  }
  const configuration = { taskPushNotificationConfig: { url: URL } };
  const sent = await rest(served, 'POST /message:send', { body: send({}, { configuration }) });
  assertStatus(sent, 400, 'PUSH_NOTIFICATION_NOT_SUPPORTED');
  assert.deepEqual(served.operations.calls, []);
});

test('push configs: every operation renews the caller’s token before it does anything else', async (t) => {
  const operations = scriptedOperations({ sendMessage: async () => ({ task: taskIn('TASK_STATE_COMPLETED') }) });
  const caller = { owner: OWNER, userToken: { token: 'u1' } };
  const prepare = ({ params }: { params: import('../../core/message.ts').JsonObject }) => ({ params, deadlineMs: 1 });
  const served = await serve(t, { operations, push: pushOf(), edge: edgeOf({ session: { caller, prepare } }) });
  await rest(served, `GET ${CONFIGS}`);
  assert.deepEqual(served.operations.callsOf('renewUserToken'), [[{ ...caller, binding: 'test', version: '1.0' }]]);
});

test('0.3: set, get, list and delete speak of the same configs in its own form', async (t) => {
  const push = pushOf();
  const served = await serve(t, { push });
  const ask = (verb: string, params: object) =>
    call(served, `tasks/pushNotificationConfig/${verb}`, params, { headers: { 'A2A-Version': '0.3' } });
  const authentication = { schemes: ['Bearer'], credentials: 'hunter3' };
  const set = await ask('set', {
    taskId: 't1',
    pushNotificationConfig: { id: 'p1', url: URL, token: 'hunter2', authentication },
  });
  assert.equal(set.json.result.taskId, 't1', set.text);
  assert.equal(set.json.result.pushNotificationConfig.url, URL);
  assert.doesNotMatch(set.text, /hunter/);
  assert.deepEqual(push.kept.get('p1'), { id: 'p1', taskId: 't1', url: URL, ...SECRETS });
  for (const params of [{ id: 't1', pushNotificationConfigId: 'p1' }, { id: 't1' }]) {
    const got = await ask('get', params);
    assert.equal(got.json.result.pushNotificationConfig.id, 'p1', got.text);
  }
  assert.equal((await ask('list', { id: 't1' })).json.result.length, 1);
  assert.equal((await ask('delete', { id: 't1', pushNotificationConfigId: 'p1' })).json.result, null);
  assert.equal((await ask('get', { id: 't1', pushNotificationConfigId: 'p1' })).json.error.code, -32001);
  assert.equal((await ask('get', { id: 't1' })).json.error.code, -32001);
});
