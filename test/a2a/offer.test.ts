import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Offer } from '../../adapters/a2a/offer.ts';
import { assertStatus, rest } from './rest.ts';
import { assertRefused, call, send } from './rpc.ts';
import { edgeOf, type Served, serve } from './serve.ts';

const OFFER: Offer = {
  inputModes: ['text/plain', 'application/json', 'image/*'],
  outputModes: ['text/markdown', 'audio/*'],
  skills: [{ id: 'brief', name: 'Brief', description: 'Sums up', tags: ['jira'] }],
  extensions: [
    { uri: 'urn:harbor:seal', description: 'Sealed', required: true },
    { uri: 'https://harbor.example/ext/tide/v1', description: 'Tides', required: false },
  ],
};
const FREE: Offer = { ...OFFER, extensions: [] };

type Params = Record<string, unknown>;

/** Over both bindings: undefined when the message was taken, else what both say. */
async function refusalOf(served: Served, params: Params) {
  const before = served.operations.calls.length;
  const overRpc = await call(served, 'SendMessage', params);
  const overHttp = await rest(served, 'POST /message:send', { body: params });
  if (overRpc.json.result) {
    assert.equal(overHttp.status, 200, overHttp.text);
    return undefined;
  }
  const { code, message, data } = overRpc.json.error;
  const fields = assertRefused(overRpc, code);
  assert.deepEqual(assertStatus(overHttp, 400, data[0].reason), fields);
  assert.deepEqual(overHttp.json.error.details, data);
  assert.equal(served.operations.calls.length, before, 'nothing was done');
  return { code, message, fields };
}

const PARTS: readonly (readonly [object, string | undefined])[] = [
  [{ text: 'hi' }, undefined],
  [{ text: 'hi', mediaType: '' }, undefined],
  [{ text: 'hi', mediaType: 'TEXT/Plain; charset=utf-8' }, undefined],
  [{ data: {} }, undefined],
  [{ data: null }, undefined],
  [{ raw: 'AA==' }, undefined],
  [{ url: 'https://example.test/x' }, undefined],
  [{ raw: 'AA==', mediaType: 'image/png' }, undefined],
  [{ text: '# hi', mediaType: 'text/markdown' }, 'message.parts[0].mediaType'],
  [{ raw: 'AA==', mediaType: 'application/x-harbor' }, 'message.parts[0].mediaType'],
  [{ url: 'https://example.test/x', mediaType: 'video/mp4' }, 'message.parts[0].mediaType'],
  [{ data: {}, mediaType: 'nonsense' }, 'message.parts[0].mediaType'],
];
for (const [part, field] of PARTS) {
  test(`input modes: ${JSON.stringify(part)} is ${field ? 'refused with -32005' : 'taken'} [13.4-media-types]`, async (t) => {
    const served = await serve(t, { edge: edgeOf({ offer: FREE }) });
    const refusal = await refusalOf(served, send({ parts: [part] }));
    assert.deepEqual(refusal?.fields, field && [field]);
    if (field) assert.equal(refusal?.code, -32005);
  });
}

test('input modes: text and data are media types too', async (t) => {
  const served = await serve(t, { edge: edgeOf({ offer: { ...FREE, inputModes: ['image/png'] } }) });
  for (const part of [{ text: 'hi' }, { data: {} }, { data: null }]) {
    assert.equal((await refusalOf(served, send({ parts: [part] })))?.code, -32005);
  }
});

const ACCEPTED: readonly (readonly [readonly string[], boolean])[] = [
  [[], true],
  [[''], true],
  [['text/markdown'], true],
  [['text/html', 'Text/Markdown;variant=GFM'], true],
  [['text/*'], true],
  [['*/*'], true],
  [['audio/ogg'], true],
  [['text'], true],
  [['image'], false],
  [['text/html'], false],
  [['image/*', 'text/plain'], false],
];
for (const [modes, taken] of ACCEPTED) {
  test(`output modes: a caller that accepts ${modes.join(' or ') || 'anything'} is ${taken ? 'served' : 'refused'}`, async (t) => {
    const served = await serve(t, { edge: edgeOf({ offer: FREE }) });
    const refusal = await refusalOf(served, send({}, { configuration: { acceptedOutputModes: modes } }));
    assert.equal(refusal?.code, taken ? undefined : -32005);
    if (!taken) assert.deepEqual(refusal?.fields, ['configuration.acceptedOutputModes']);
  });
}

test('skills: one of the card is taken, another one is -32602, wherever it is named', async (t) => {
  const served = await serve(t, { edge: edgeOf({ offer: FREE }) });
  for (const skillId of ['brief', 'nope', '', 5, null]) {
    for (const [field, params] of [
      ['metadata.skillId', send({}, { metadata: { skillId } })],
      ['message.metadata.skillId', send({ metadata: { skillId } })],
    ] as const) {
      const refusal = await refusalOf(served, params);
      assert.deepEqual(refusal && [refusal.code, refusal.fields], skillId === 'brief' ? undefined : [-32602, [field]]);
    }
  }
});

test('extensions: a call without a required one answers -32008 and names it, before its params are looked at [4.6.3-required, 4.6.3-no-fallback]', async (t) => {
  const served = await serve(t, { edge: edgeOf({ offer: OFFER }) });
  for (const value of [undefined, '', 'urn:harbor:seals', 'urn:harbor:seal/v2', 'https://harbor.example/ext/tide/v1']) {
    const headers: Record<string, string> = value === undefined ? {} : { 'A2A-Extensions': value };
    for (const method of ['SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'SubscribeToTask']) {
      const answer = await call(served, method, {}, { headers });
      assertRefused(answer, -32008);
      assert.match(answer.json.error.message, /urn:harbor:seal$/);
    }
    assertStatus(await rest(served, 'GET /tasks/t1', { headers }), 400, 'EXTENSION_SUPPORT_REQUIRED');
    assertStatus(await rest(served, 'POST /message:stream', { headers }), 400, 'EXTENSION_SUPPORT_REQUIRED');
  }
  assert.deepEqual(served.operations.calls, []);
});

test('extensions: with it the call is served, whatever else is activated [4.6.3-unknown, 9.2-commas, 11.2-commas]', async (t) => {
  const served = await serve(t, { edge: edgeOf({ offer: OFFER }) });
  for (const value of ['urn:harbor:seal', 'https://other.example/x, urn:harbor:seal ,urn:y']) {
    const headers = { 'A2A-Extensions': value };
    assert.ok((await call(served, 'GetTask', { id: 't1' }, { headers })).json.result);
    assert.equal((await rest(served, 'GET /tasks/t1', { headers })).status, 200);
  }
});

test('0.3: it is held to the same offer, under the names that it has for it', async (t) => {
  const served = await serve(t, { edge: edgeOf({ offer: OFFER }) });
  const ask = (part: object, headers: Record<string, string> = {}) =>
    call(
      served,
      'message/send',
      { message: { kind: 'message', messageId: 'm1', role: 'user', parts: [part] } },
      { headers: { 'A2A-Version': '0.3', ...headers } },
    );
  const text = { kind: 'text', text: 'hi' };
  assert.equal((await ask(text)).json.error.code, -32008);
  const activated = { 'X-A2A-Extensions': 'urn:harbor:seal' };
  assert.ok((await ask(text, activated)).json.result);
  const film = { kind: 'file', file: { bytes: 'AA==', mimeType: 'video/mp4' } };
  const refused = await ask(film, activated);
  assert.equal(refused.json.error.code, -32005);
  assert.equal(refused.json.error.data.details[0].reason, 'CONTENT_TYPE_NOT_SUPPORTED');
});

test('an edge without a card holds its callers to nothing', async (t) => {
  const served = await serve(t);
  const parts = [{ raw: 'AA==', mediaType: 'application/x-harbor' }];
  const params = send({ parts, metadata: { skillId: 'x' } }, { configuration: { acceptedOutputModes: ['a/b'] } });
  assert.equal(await refusalOf(served, params), undefined);
});

test('referenceTaskIds: they reach the operation as they came, over both bindings', async (t) => {
  const served = await serve(t, { edge: edgeOf({ offer: FREE }) });
  const referenceTaskIds = ['t7', 't7', '🏮'];
  assert.equal(await refusalOf(served, send({ referenceTaskIds })), undefined);
  for (const [, incoming] of served.operations.callsOf('sendMessage')) {
    assert.deepEqual(
      (incoming as { message: { referenceTaskIds: unknown } }).message.referenceTaskIds,
      referenceTaskIds,
    );
  }
  const faulty = await refusalOf(served, send({ referenceTaskIds: ['t1', ' '] }));
  assert.deepEqual(faulty?.fields, ['message.referenceTaskIds[1]']);
  const many = await refusalOf(served, send({ referenceTaskIds: Array.from({ length: 101 }, () => 't') }));
  assert.deepEqual(many?.fields, ['message.referenceTaskIds']);
});
