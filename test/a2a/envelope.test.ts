import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused, call, post, rpc, send } from './rpc.ts';
import { serve } from './serve.ts';

const TASK = {
  id: 't1',
  contextId: 'c1',
  status: { state: 'TASK_STATE_COMPLETED', timestamp: '2026-11-30T10:00:00.000Z' },
};

test('JSON-RPC: a call is answered byte for byte in the form of the specification [5.5-enums]', async (t) => {
  const served = await serve(t);
  const sent = await call(served, 'SendMessage', send());
  assert.equal(sent.text, JSON.stringify({ jsonrpc: '2.0', id: 1, result: { task: TASK } }));
  assert.match(sent.headers.get('content-type') ?? '', /^application\/json/);
  const got = await call(served, 'GetTask', { id: 't1' });
  assert.equal(got.text, JSON.stringify({ jsonrpc: '2.0', id: 1, result: TASK }));
});

test('JSON-RPC: the path is served with and without its last slash, and nothing is redirected', async (t) => {
  const served = await serve(t);
  for (const path of ['/a2a', '/a2a/', '/a2a?x=1']) {
    assert.equal((await call(served, 'GetTask', { id: 't1' }, { path })).status, 200, path);
  }
  assert.equal((await call(served, 'GetTask', { id: 't1' }, { path: '/a2a/x' })).status, 404);
});

const BROKEN: readonly (readonly [string, string | Uint8Array])[] = [
  ['a cut document', '{"jsonrpc":"2.0","id":7,'],
  ['an empty body', ''],
  ['a byte that is no UTF-8', Uint8Array.from([0x22, 0xff, 0x22])],
  [
    'a document nested 200 deep',
    `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":${'['.repeat(200)}${']'.repeat(200)}}`,
  ],
  ['a document nested 100,000 deep', '['.repeat(100_000) + ']'.repeat(100_000)],
];
for (const [name, body] of BROKEN) {
  test(`JSON-RPC: ${name} answers -32700 with id null`, async (t) => {
    const served = await serve(t);
    assertRefused(await post(served, body), -32700, null);
    assert.deepEqual(served.operations.calls, []);
  });
}

const call_ = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: send() };
const UNUSABLE: readonly (readonly [string, unknown, unknown])[] = [
  ['an empty batch', [], null],
  ['a batch', [call_], null],
  ['a string', 'SendMessage', null],
  ['null', null, null],
  ['a notification', { ...call_, id: undefined }, null],
  ['an object as id', { ...call_, id: {} }, null],
  ['an array as id', { ...call_, id: [1] }, null],
  ['null as id', { ...call_, id: null }, null],
  ['a fraction as id', { ...call_, id: 1.5 }, null],
  ['an id that would not fit into a frame', { ...call_, id: 'x'.repeat(257) }, null],
  ['an empty method', { ...call_, method: '' }, 1],
  ['a number as method', { ...call_, method: 5 }, 1],
  ['jsonrpc 1.0', { ...call_, jsonrpc: '1.0' }, 1],
  ['no jsonrpc', { ...call_, jsonrpc: undefined }, 1],
];
for (const [name, body, id] of UNUSABLE) {
  test(`JSON-RPC: ${name} answers -32600 and runs nothing [9.3-json-rpc]`, async (t) => {
    const served = await serve(t);
    assertRefused(await post(served, JSON.stringify(body)), -32600, id);
    assert.deepEqual(served.operations.calls, []);
  });
}

test('JSON-RPC: a body of more than 100,000 values answers -32600 and runs nothing [13.4-limits]', async (t) => {
  const served = await serve(t);
  const data = (length: number) => rpc('SendMessage', send({ parts: [{ data: { a: Array(length).fill([]) } }] }));
  assertRefused(await post(served, data(100_000)), -32600, null);
  assert.deepEqual(served.operations.calls, []);
  assert.ok((await post(served, data(99_000))).json.result);
});

for (const id of [0, '', 'a"b', -7, 9007199254740991]) {
  test(`JSON-RPC: id ${JSON.stringify(id)} comes back as it went, in results and in errors`, async (t) => {
    const served = await serve(t);
    assert.equal((await post(served, rpc('GetTask', { id: 't1' }, id))).json.id, id);
    assertRefused(await post(served, rpc('GetTask', {}, id)), -32602, id);
    assertRefused(await post(served, rpc('Foo', {}, id)), -32601, id);
    assertRefused(await post(served, rpc('SubscribeToTask', { id: 'nope' }, id)), -32001, id);
  });
}

test('JSON-RPC: of a repeated key the last one counts', async (t) => {
  const served = await serve(t);
  const answer = await post(served, '{"jsonrpc":"2.0","id":1,"id":2,"method":"GetTask","params":{"id":"t1"}}');
  assert.equal(answer.json.id, 2);
  assert.equal(answer.json.result.id, 't1');
});

for (const method of ['Foo', 'sendMessage', 'constructor', '__proto__']) {
  test(`JSON-RPC: the unknown method ${method} answers -32601`, async (t) => {
    assertRefused(await call(await serve(t), method, {}), -32601);
  });
}

const TYPES: readonly (readonly [string, number | undefined])[] = [
  ['application/json; charset=utf-8', undefined],
  ['Application/JSON', undefined],
  ['text/plain', -32005],
  ['application/json; charset=utf-16', -32005],
  ['application/x-www-form-urlencoded', -32005],
];
for (const [type, code] of TYPES) {
  test(`JSON-RPC: Content-Type ${type} is ${code === undefined ? 'read' : 'refused with -32005'} [14.1.1-utf8]`, async (t) => {
    const answer = await call(await serve(t), 'GetTask', { id: 't1' }, { headers: { 'Content-Type': type } });
    if (code === undefined) assert.ok(answer.json.result, answer.text);
    else assertRefused(answer, code, null);
  });
}

test('JSON-RPC: a compressed body answers -32005', async (t) => {
  const answer = await call(await serve(t), 'GetTask', { id: 't1' }, { headers: { 'Content-Encoding': 'gzip' } });
  assertRefused(answer, -32005, null);
});
