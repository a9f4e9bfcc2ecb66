import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_TABLE } from '../../adapters/a2a/error-table.ts';
import { DomainError, ERROR_CODES } from '../../core/errors.ts';
import type { Operations } from '../../core/operations/operations.ts';
import { assertRefused, call, post, rpc, send } from './rpc.ts';
import { framesOf, scriptedOperations } from './scripted-operations.ts';
import { edgeOf, OWNER, serve } from './serve.ts';

const INTERNAL = ['INTERNAL', 'LEASE_LOST', 'USER_TOKEN_REQUIRED'];

for (const code of ERROR_CODES) {
  test(`errors: ${code} keeps its code, reason and details through the transport handler [9.5-typed-details, 3.3.2-code-message]`, async (t) => {
    const error = new DomainError(code, 'outward text', {
      violations: [{ field: 'message.taskId', description: 'is not of this context' }],
      retryAfterMs: 1_500,
      cause: new Error('secret cause'),
    });
    const operations = scriptedOperations({ getTask: () => Promise.reject(error) });
    const answer = await call(await serve(t, { operations }), 'GetTask', { id: 't1' });
    const row = ERROR_TABLE[code];
    assertRefused(answer, row.jsonRpc);
    const { data, message } = answer.json.error;
    assert.equal(data[0].reason, row.reason);
    assert.equal(message, INTERNAL.includes(code) ? 'Internal error' : 'outward text');
    const retry = data.find((detail: { '@type': string }) => detail['@type'].endsWith('.RetryInfo'));
    assert.equal(retry?.retryDelay, 'retry' in row ? '1.5s' : undefined);
    assert.doesNotMatch(answer.text, /secret|stack/);
  });
}

/** As section 5.4 has them. An agent's answer that is no answer never gets so far (-32006): its task fails. */
const SPECIFIED: readonly (readonly [reason: string, jsonRpc: number, grpc: string, http: number])[] = [
  ['TASK_NOT_FOUND', -32001, 'NOT_FOUND', 404],
  ['TASK_NOT_CANCELABLE', -32002, 'FAILED_PRECONDITION', 400],
  ['PUSH_NOTIFICATION_NOT_SUPPORTED', -32003, 'FAILED_PRECONDITION', 400],
  ['UNSUPPORTED_OPERATION', -32004, 'FAILED_PRECONDITION', 400],
  ['CONTENT_TYPE_NOT_SUPPORTED', -32005, 'INVALID_ARGUMENT', 400],
  ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', -32007, 'FAILED_PRECONDITION', 400],
  ['EXTENSION_SUPPORT_REQUIRED', -32008, 'FAILED_PRECONDITION', 400],
  ['VERSION_NOT_SUPPORTED', -32009, 'FAILED_PRECONDITION', 400],
];
for (const [reason, ...codes] of SPECIFIED) {
  test(`errors: ${reason} is ${codes.join(', ')} [5.4-mapping]`, () => {
    const rows = Object.values(ERROR_TABLE).filter((row) => row.reason === reason);
    assert.deepEqual(
      rows.map(({ jsonRpc, grpc, http }) => [jsonRpc, grpc, http]),
      [codes],
    );
  });
}

const THROWN: readonly (readonly [string, keyof Operations, string, unknown])[] = [
  ['a send', 'sendMessage', 'SendMessage', send()],
  ['a stream before its first event', 'sendStreamingMessage', 'SendStreamingMessage', send()],
  ['a list', 'listTasks', 'ListTasks', {}],
  ['a cancellation', 'cancelTask', 'CancelTask', { id: 't1' }],
];
for (const [name, operation, method, params] of THROWN) {
  test(`errors: what ${name} throws goes into the log and not over the wire [3.3.2-logged]`, async (t) => {
    const fault = new Error("SELECT * FROM task WHERE id = '/srv/secret'");
    const operations = scriptedOperations({ [operation]: () => Promise.reject(fault) });
    const served = await serve(t, { operations });
    const answer = await call(served, method, params);
    assertRefused(answer, -32603);
    assert.equal(answer.json.error.message, 'Internal error');
    assert.doesNotMatch(answer.text, /SELECT|secret/);
    assert.deepEqual(served.events, [{ level: 'error', name: 'request.failed', error: fault }]);
  });
}

test('errors: an edge that fails while it prepares a call answers -32603', async (t) => {
  const prepare = () => {
    throw new TypeError('secret');
  };
  const answer = await call(await serve(t, { edge: edgeOf({ session: { prepare } }) }), 'GetTask', { id: 't1' });
  assertRefused(answer, -32603);
  assert.doesNotMatch(answer.text, /secret/);
});

test('errors: what an edge refuses while it prepares a call is answered as it says', async (t) => {
  const prepare = () => {
    throw new DomainError('INVALID_PARAMS', 'not yours', {
      violations: [{ field: 'message.parts[1].data.userAccountId', description: 'is not the caller' }],
    });
  };
  const served = await serve(t, { edge: edgeOf({ session: { prepare } }) });
  const fields = assertRefused(await call(served, 'SendMessage', send()), -32602);
  assert.deepEqual(fields, ['message.parts[1].data.userAccountId']);
  assert.deepEqual(served.operations.calls, []);
});

for (const method of ['Create', 'Get', 'List', 'Delete'].map((verb) =>
  verb === 'List' ? 'ListTaskPushNotificationConfigs' : `${verb}TaskPushNotificationConfig`,
)) {
  test(`${method}: answers -32003 while the card offers no push notifications`, async (t) => {
    const answer = await call(await serve(t), method, { taskId: 't1', id: 'p1', url: 'https://example.test' });
    assertRefused(answer, -32003);
  });
}

test('SendMessage: an inline push config is refused with -32003, not ignored', async (t) => {
  const served = await serve(t);
  for (const method of ['SendMessage', 'SendStreamingMessage']) {
    const configuration = { taskPushNotificationConfig: { url: 'https://example.test' } };
    assertRefused(await call(served, method, send({}, { configuration })), -32003);
  }
  assert.deepEqual(served.operations.calls, []);
});

test('GetExtendedAgentCard: answers -32004, because the card declares none', async (t) => {
  const served = await serve(t);
  assertRefused(await post(served, rpc('GetExtendedAgentCard')), -32004);
});

test('streaming off: both streaming methods answer -32004 as plain JSON', async (t) => {
  const served = await serve(t, { edge: edgeOf({ streaming: false }) });
  assertRefused(await call(served, 'SendStreamingMessage', send()), -32004);
  assertRefused(await call(served, 'SubscribeToTask', { id: 't1' }), -32004);
  assert.deepEqual(served.operations.calls, []);
});

test('user token: every operation but a send renews it before it does anything else', async (t) => {
  const caller = { owner: OWNER, userToken: { token: 'u1' } };
  const operations = scriptedOperations({ subscribeToTask: async () => framesOf() });
  const served = await serve(t, { operations, edge: edgeOf({ session: { caller } }) });
  await call(served, 'GetTask', { id: 't1' });
  await call(served, 'ListTasks', {});
  await call(served, 'CancelTask', { id: 't1' });
  await call(served, 'SubscribeToTask', { id: 't1' });
  await call(served, 'SendMessage', send());
  await call(served, 'SendStreamingMessage', send());
  assert.deepEqual(
    served.operations.calls.map((each) => each.operation),
    [
      ...['getTask', 'listTasks', 'cancelTask', 'subscribeToTask'].flatMap((name) => ['renewUserToken', name]),
      'sendMessage',
      'sendStreamingMessage',
    ],
  );
  assert.deepEqual(served.operations.callsOf('renewUserToken')[0], [{ ...caller, binding: 'test', version: '1.0' }]);
});
