import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { type AgentCardSource, createAgentCard } from '../../adapters/a2a/agent-card.ts';
import { createCardSigner } from '../../adapters/a2a/card-signing.ts';
import { DomainError } from '../../core/errors.ts';
import { type Answer, assertRefused, call, rpc, send } from './rpc.ts';
import { scriptedOperations } from './scripted-operations.ts';
import { edgeOf, serve } from './serve.ts';

const CARD: AgentCardSource = {
  ...{ name: 'a', description: 'b', version: '1', publicUrl: 'https://agent.example' },
  ...{ path: '/a2a', httpJsonPath: '/a2a/v1', versions: ['1.0', '0.3'], auth: 'jwt' },
  ...{ streaming: true, pushNotifications: false, extendedCard: true, extensions: [] },
  skills: [{ id: 's', name: 's', description: 's', tags: ['s'] }],
  ...{ inputModes: ['text/plain'], outputModes: ['text/plain'] },
};

const V1 = edgeOf({ versions: ['1.0'] });
const ROVO_LIKE = edgeOf({ defaultVersion: '1.0', versions: ['1.0'], legacyHint: 'Set the manifest to 1.0.' });
const LEGACY_MESSAGE = { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'hi' }] };

for (const version of ['1.0', ' 1.0 ', '1.0.7']) {
  test(`A2A-Version: ${JSON.stringify(version)} is 1.0 [3.6-patch-ignored]`, async (t) => {
    const answer = await call(await serve(t), 'GetTask', { id: 't1' }, { headers: { 'A2A-Version': version } });
    assert.equal(answer.json.result.status.state, 'TASK_STATE_COMPLETED');
  });
}

for (const version of ['2.0', '1.1', '1', 'abc', '1.0, 1.0', '10.0']) {
  test(`A2A-Version: ${version} answers -32009 on every method, also on one that does not exist [3.6.2-not-supported]`, async (t) => {
    const served = await serve(t);
    for (const method of ['GetTask', 'Foo', 'message/send']) {
      const answer = await call(served, method, { id: 't1' }, { headers: { 'A2A-Version': version } });
      assertRefused(answer, -32009);
      assert.match(answer.json.error.message, /1\.0, 0\.3/);
    }
  });
}

test('A2A-Version: the query parameter counts when there is no header', async (t) => {
  const served = await serve(t, { edge: V1 });
  const ask = (path: string, version: string) =>
    call(served, 'GetTask', { id: 't1' }, { path, headers: { 'A2A-Version': version } });
  assert.ok((await ask('/a2a?A2A-Version=1.0', '')).json.result);
  assertRefused(await ask('/a2a?A2A-Version=9.9', ''), -32009);
  assert.ok((await ask('/a2a?A2A-Version=9.9', '1.0')).json.result);
});

test('A2A-Version: its name has no case, in a header and in the query, over both bindings [9.2-headers, 11.2-headers]', async (t) => {
  const served = await serve(t, { edge: V1 });
  for (const name of ['A2A-Version', 'a2a-version', 'A2A-VERSION']) {
    for (const [query, headers] of [
      [`?${name}=1.0`, {}],
      ['', { [name]: '1.0' }],
    ] as const) {
      const body = rpc('GetTask', { id: 't1' });
      assert.ok((await exchange(served, 'POST', `/a2a${query}`, headers, body)).result, name);
      assert.equal((await exchange(served, 'GET', `/a2a/v1/tasks/t1${query}`, headers)).id, 't1', name);
    }
  }
});

/** Not fetch: that one writes names of headers in small letters. */
async function exchange(
  { port }: { readonly port: number },
  ...[method, path, headers, body = '']: [string, string, Readonly<Record<string, string>>, string?]
) {
  const sent = request({
    port,
    host: '127.0.0.1',
    method,
    path,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return JSON.parse(text);
}

test('A2A-Version: a call without one speaks 0.3, and is told so where 0.3 is off', async (t) => {
  const off = await serve(t, { edge: V1 });
  const refused = await call(off, 'SendMessage', send(), { headers: { 'A2A-Version': '' } });
  assertRefused(refused, -32009);
  assert.match(refused.json.error.message, /speaks 0\.3.*Supported A2A versions: 1\.0/);
  assert.deepEqual(off.operations.calls, []);

  const on = await serve(t);
  const unknown = await call(on, 'SendMessage', send(), { headers: { 'A2A-Version': '' } });
  assert.equal(unknown.json.error.code, -32601);
  assert.match(unknown.json.error.message, /A2A-Version: 1\.0/);
});

test('A2A-Version: an edge whose default is 1.0 needs no header', async (t) => {
  const served = await serve(t, { edge: ROVO_LIKE });
  const answer = await call(served, 'GetTask', { id: 't1' }, { headers: { 'A2A-Version': '' } });
  assert.equal(answer.json.result.id, 't1');
});

test('0.3 method on a 1.0 edge: the error names the setting that has to change, and nothing is parsed', async (t) => {
  const served = await serve(t, { edge: ROVO_LIKE });
  const plain = await call(served, 'message/send', { message: LEGACY_MESSAGE }, { headers: { 'A2A-Version': '' } });
  assertRefused(plain, -32601);
  const said = await call(served, 'message/send', { message: LEGACY_MESSAGE }, { headers: { 'A2A-Version': '0.3' } });
  assertRefused(said, -32009);
  for (const { json } of [plain, said]) assert.match(json.error.message, /Set the manifest to 1\.0\./);
  assert.deepEqual(served.operations.calls, []);
});

async function legacy(t: import('node:test').TestContext, method: string, params: unknown) {
  const served = await serve(t);
  const answer: Answer = await call(served, method, params, { headers: { 'A2A-Version': '' } });
  return { served, answer };
}

test('0.3: message/send is answered in the form of 0.3 by the same operation', async (t) => {
  const { served, answer } = await legacy(t, 'message/send', {
    message: { ...LEGACY_MESSAGE, contextId: 'c1' },
    configuration: { blocking: true, historyLength: 0 },
  });
  assert.deepEqual(answer.json.result, {
    kind: 'task',
    id: 't1',
    contextId: 'c1',
    status: { state: 'completed', timestamp: '2026-11-30T10:00:00.000Z' },
  });
  const [, incoming, options] = served.operations.callsOf('sendMessage')[0] ?? [];
  assert.deepEqual((incoming as { message: unknown }).message, {
    messageId: 'm1',
    contextId: 'c1',
    role: 'ROLE_USER',
    parts: [{ text: 'hi' }],
  });
  assert.deepEqual(options, { returnImmediately: false, historyLength: 0 });
});

test('0.3: null means absent', async (t) => {
  const parts = [{ kind: 'text', text: 'hi', metadata: null }];
  const message = { ...LEGACY_MESSAGE, parts, contextId: null, taskId: null, metadata: null, extensions: null };
  const { served } = await legacy(t, 'message/send', { message, configuration: null, metadata: null });
  const [, incoming] = served.operations.callsOf('sendMessage')[0] ?? [];
  assert.deepEqual((incoming as { message: unknown }).message, {
    messageId: 'm1',
    role: 'ROLE_USER',
    parts: [{ text: 'hi' }],
  });
});

test('0.3: message/stream carries envelopes of 0.3 and the same event ids', async (t) => {
  const { answer } = await legacy(t, 'message/stream', { message: LEGACY_MESSAGE });
  const events = answer.text.split('\n\n').filter((event) => event.startsWith('id:'));
  assert.deepEqual(
    events.map((event) => event.split('\n')[0]),
    ['id: 1', 'id: 2'],
  );
  const last = JSON.parse(events[1]?.split('\ndata: ')[1] ?? '');
  assert.equal(last.result.kind, 'status-update');
  assert.equal(last.result.final, true);
});

/** The events of the stream that a call of 0.3 is answered with. */
function legacyEvents(answer: Answer) {
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
  return answer.text.split('\n\n').flatMap((event) => {
    const [, json] = /^data: (.*)$/m.exec(event) ?? [];
    return json === undefined ? [] : [JSON.parse(json)];
  });
}

test('0.3: what is refused to a streaming call is the only event of its stream', async (t) => {
  const off = await serve(t, { edge: edgeOf({ streaming: false }) });
  const headers = { 'A2A-Version': '0.3' };
  const [unsupported, ...more] = legacyEvents(await call(off, 'tasks/resubscribe', { id: 't1' }, { headers }));
  assert.deepEqual([unsupported.id, unsupported.error.code, more.length], [1, -32004, 0]);
  assert.deepEqual(off.operations.calls, []);

  const operations = scriptedOperations({
    subscribeToTask: () => Promise.reject(new DomainError('TASK_NOT_FOUND', 'There is no such task')),
  });
  const served = await serve(t, { operations });
  const [unknown, ...others] = legacyEvents(await call(served, 'tasks/resubscribe', { id: 't1' }, { headers }));
  assert.deepEqual([unknown.id, unknown.error.code, others.length], [1, -32001, 0]);
  assert.equal(unknown.error.data.details[0].reason, 'TASK_NOT_FOUND');
  const invalid = await call(served, 'message/stream', {}, { headers });
  assert.equal(legacyEvents(invalid)[0].error.code, -32602);
});

const LEGACY_REFUSED: readonly (readonly [string, string, unknown])[] = [
  ['role of 1.0', 'message/send', { message: { ...LEGACY_MESSAGE, role: 'ROLE_USER' } }],
  ['a part of 1.0', 'message/send', { message: { ...LEGACY_MESSAGE, parts: [{ text: 'hi' }] } }],
  ['a file part without a file', 'message/send', { message: { ...LEGACY_MESSAGE, parts: [{ kind: 'file' }] } }],
  ['text a number', 'message/send', { message: { ...LEGACY_MESSAGE, parts: [{ kind: 'text', text: 5 }] } }],
  ['a blank messageId', 'message/send', { message: { ...LEGACY_MESSAGE, messageId: ' ' } }],
  ['NUL in a text', 'message/send', { message: { ...LEGACY_MESSAGE, parts: [{ kind: 'text', text: '\0' }] } }],
  ['another tenant', 'message/send', { message: LEGACY_MESSAGE, tenant: 't2' }],
  ['no message', 'message/send', {}],
  ['no params', 'tasks/get', undefined],
  ['an id of 1 MB', 'tasks/get', { id: 'x'.repeat(1_000_000) }],
];
for (const [name, method, params] of LEGACY_REFUSED) {
  test(`0.3 ${method}: ${name} answers -32602 and nothing is done`, async (t) => {
    const { served, answer } = await legacy(t, method, params);
    assert.equal(answer.status, 200);
    assert.equal(answer.json.error.code, -32602);
    const { details } = answer.json.error.data;
    assert.ok(details[1].fieldViolations.length > 0, answer.text);
    assert.deepEqual(served.operations.calls, []);
  });
}

test('0.3: push notification methods answer -32003', async (t) => {
  const set = { taskId: 't1', pushNotificationConfig: { url: 'https://example.test' } };
  assert.equal((await legacy(t, 'tasks/pushNotificationConfig/set', set)).answer.json.error.code, -32003);
  for (const verb of ['get', 'list', 'delete']) {
    const { answer } = await legacy(t, `tasks/pushNotificationConfig/${verb}`, {
      id: 't1',
      pushNotificationConfigId: 'p',
    });
    assert.equal(answer.json.error.code, -32003, verb);
  }
});

test('versionByMethod: a call that does not say its version speaks the one that its method is of', async (t) => {
  const edge = edgeOf({ defaultVersion: '1.0', versionByMethod: true });
  const served = await serve(t, { edge });
  const ask = (method: string, params: object) => call(served, method, params, { headers: { 'A2A-Version': '' } });
  assert.equal((await ask('message/send', { message: LEGACY_MESSAGE })).json.result.kind, 'task');
  assert.equal((await ask('GetTask', { id: 't1' })).json.result.status.state, 'TASK_STATE_COMPLETED');
  assertRefused(await ask('Foo', {}), -32601);
});

test('versionByMethod: a version that is off is not spoken for its methods', async (t) => {
  const served = await serve(t, { edge: { ...ROVO_LIKE, versionByMethod: true } });
  const answer = await call(served, 'message/send', { message: LEGACY_MESSAGE }, { headers: { 'A2A-Version': '' } });
  assertRefused(answer, -32601);
  assert.match(answer.json.error.message, /Set the manifest to 1\.0\./);
  assert.deepEqual(served.operations.calls, []);
});

test('0.3: the extended card is a card of 0.3, without a signature that nobody could verify', async (t) => {
  const key = generateKeyPairSync('ed25519').privateKey;
  const signer = createCardSigner({ kid: 'k1', alg: 'EdDSA', key }, 'https://agent.example/jwks.json');
  const served = await serve(t, {
    extendedCard: (tenant) => signer.sign(createAgentCard(CARD, tenant ? { tenant } : {})),
  });
  const legacy = await call(served, 'agent/getAuthenticatedExtendedCard', undefined, {
    headers: { 'A2A-Version': '0.3' },
  });
  const { url, protocolVersion, preferredTransport, signatures } = legacy.json.result;
  assert.deepEqual(
    [url, protocolVersion, preferredTransport, signatures],
    ['https://agent.example/a2a', '0.3', 'JSONRPC', undefined],
  );
  const { result } = (await call(served, 'GetExtendedAgentCard')).json;
  assert.deepEqual(result, signer.sign(createAgentCard(CARD, { tenant: 't1' })));
});
