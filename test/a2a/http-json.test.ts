import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_TABLE } from '../../adapters/a2a/error-table.ts';
import { DomainError, ERROR_CODES } from '../../core/errors.ts';
import type { Operations } from '../../core/operations/operations.ts';
import { openRaw } from './raw-socket.ts';
import { assertStatus, rest } from './rest.ts';
import { call, send } from './rpc.ts';
import { framesOf, scriptedOperations, statusFrame, taskIn, textFrame } from './scripted-operations.ts';
import { edgeOf, gateOf, OWNER, serve } from './serve.ts';

const TASK = taskIn('TASK_STATE_COMPLETED');

const ROUTES: readonly (readonly [string, keyof Operations, unknown, unknown])[] = [
  ['POST /message:send', 'sendMessage', send(), { task: TASK }],
  ['GET /tasks/t1', 'getTask', undefined, TASK],
  ['POST /tasks/t1:cancel', 'cancelTask', undefined, taskIn('TASK_STATE_CANCELED')],
  ['POST /tasks/t1:cancel', 'cancelTask', { metadata: {} }, taskIn('TASK_STATE_CANCELED')],
  ['POST /tasks/t1:cancel', 'cancelTask', 'null', taskIn('TASK_STATE_CANCELED')],
  ['GET /tasks', 'listTasks', undefined, { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 }],
];
const bodyName = (body: unknown): string =>
  body === undefined ? 'no body' : body === 'null' ? 'null as its body' : 'a body';
for (const [line, operation, body, result] of ROUTES) {
  for (const prefix of ['', '/t1']) {
    const tenanted = line.replace(' ', ` ${prefix}`);
    test(`HTTP+JSON: ${tenanted} with ${bodyName(body)} is ${operation} [11.5-path-query, 11.5-nested]`, async (t) => {
      const served = await serve(t);
      const answer = await rest(served, tenanted, body === undefined ? {} : { body });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.json, result);
      assert.deepEqual(
        served.operations.calls.map((each) => each.operation),
        [operation],
      );
    });
  }
}

test('HTTP+JSON: an answer is the result of the same call over JSON-RPC, byte for byte', async (t) => {
  const history = [{ messageId: 'm1', role: 'ROLE_USER', parts: [{ data: null }, { text: '' }] }] as const;
  const operations = scriptedOperations({ getTask: async () => ({ ...TASK, history }) });
  const served = await serve(t, { operations });
  const { text } = await rest(served, 'GET /tasks/t1?historyLength=3');
  const rpc = await call(served, 'GetTask', { id: 't1', historyLength: 3 });
  assert.equal(rpc.text, `{"jsonrpc":"2.0","id":1,"result":${text}}`);
  const [first, second] = served.operations.callsOf('getTask');
  assert.deepEqual(first, second);
});

const IDS: readonly (readonly [string, string])[] = [
  ['a%3Acancel', 'a:cancel'],
  ['a:b', 'a:b'],
  ['a%2Fb', 'a/b'],
  ['%F0%9F%8F%AE', '🏮'],
  ['a%20b', 'a b'],
  ['tasks', 'tasks'],
  ["'--", "'--"],
];
for (const [path, id] of IDS) {
  test(`HTTP+JSON: /tasks/${path} names the task ${id} [11.5-encoded]`, async (t) => {
    const served = await serve(t);
    assert.equal((await rest(served, `GET /tasks/${path}`)).status, 200);
    assert.equal((await rest(served, `POST /tasks/${path}:cancel`)).status, 200);
    assert.deepEqual(served.operations.callsOf('getTask')[0]?.[1], id);
    assert.deepEqual(served.operations.callsOf('cancelTask')[0]?.[1], id);
  });
}

for (const line of [
  'GET ',
  'GET /',
  'GET /task',
  'POST /message',
  'GET /tasks/a/b',
  'GET /tasks/%ff',
  'GET /a/b/tasks',
]) {
  test(`HTTP+JSON: ${line} is nothing, and says so in the binding's form`, async (t) => {
    assertStatus(await rest(await serve(t), line), 404, 'METHOD_NOT_FOUND');
  });
}

const NOT_ALLOWED: readonly (readonly [string, string])[] = [
  ['GET /message:send', 'POST'],
  ['PUT /tasks/t1', 'GET'],
  ['GET /tasks/t1:cancel', 'POST'],
  ['DELETE /tasks/t1:subscribe', 'POST, GET'],
  ['DELETE /tasks/t1/pushNotificationConfigs', 'POST, GET'],
  ['POST /extendedAgentCard', 'GET'],
];
for (const [line, allow] of NOT_ALLOWED) {
  test(`HTTP+JSON: ${line} answers 405 and what is allowed`, async (t) => {
    const answer = await rest(await serve(t), line);
    assertStatus(answer, 405, 'METHOD_NOT_ALLOWED');
    assert.equal(answer.headers.get('allow'), allow);
  });
}

test('HTTP+JSON: ListTasks reads its query in both spellings, and values as what they are [11.5-camel-case]', async (t) => {
  const served = await serve(t);
  const query = {
    filter: { contextId: 'c 1', state: 'TASK_STATE_WORKING', statusSince: Date.parse('2026-11-30T09:00:00Z') },
    pageSize: 2,
    pageToken: '2',
    historyLength: 1,
    includeArtifacts: true,
  };
  const camel =
    'contextId=c%201&status=TASK_STATE_WORKING&pageSize=2&pageToken=2&historyLength=1&includeArtifacts=true' +
    '&statusTimestampAfter=2026-11-30T11:00:00%2B02:00&A2A-Version=1.0&unknown=1&constructor=1&__proto__=1';
  const proto = camel.replaceAll(/[a-z]([A-Z])(?=[a-zA-Z]*=)/g, (pair) => `${pair[0]}_${pair[1]?.toLowerCase()}`);
  assert.match(proto, /context_id=.*status_timestamp_after=/);
  for (const text of [camel, proto.replace('a2_a-_version', 'x')]) {
    assert.equal((await rest(served, `GET /tasks?${text}`)).status, 200, text);
  }
  for (const args of served.operations.callsOf('listTasks'))
    assert.deepEqual(args, [{ owner: OWNER, binding: 'test', version: '1.0' }, query]);
  await rest(served, 'GET /tasks?contextId=&pageSize=&status=&includeArtifacts=false');
  const nothing = { filter: {}, pageSize: 50, includeArtifacts: false };
  assert.deepEqual(served.operations.callsOf('listTasks')[2]?.[1], nothing);
});

const REFUSED: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['GET /tasks?pageSize=0', undefined, ['pageSize']],
  ['GET /tasks?pageSize=1e1', undefined, ['pageSize']],
  ['GET /tasks?page_size=x', undefined, ['pageSize']],
  ['GET /tasks?includeArtifacts=yes', undefined, ['includeArtifacts']],
  ['GET /tasks?status=working', undefined, ['status']],
  ['GET /tasks?pageSize=1&pageSize=2', undefined, ['pageSize']],
  ['GET /tasks?tenant=t2', undefined, ['tenant']],
  ['GET /t2/tasks', undefined, ['tenant']],
  ['GET /tasks/t1?historyLength=-1', undefined, ['historyLength']],
  ['GET /tasks/t1?id=t2', undefined, ['id']],
  [`GET /tasks/${'x'.repeat(2_000)}`, undefined, ['id']],
  ['GET /tasks/%20', undefined, ['id']],
  ['POST /tasks/t1:cancel', { id: 't2' }, ['id']],
  ['POST /t1/message:send', send({}, { tenant: 't2' }), ['tenant']],
  ['POST /message:send', undefined, ['message']],
  ['POST /message:send', [], ['body']],
  ['POST /message:send', send({ role: 'user' }), ['message.role']],
  ['POST /message:send', send({ parts: [{}] }), ['message.parts[0]']],
];
for (const [line, body, fields] of REFUSED) {
  test(`HTTP+JSON: ${line.slice(0, 60)} ${JSON.stringify(body) ?? ''} answers 400 naming ${fields.join()} [11.6-well-known, 14.1.1-validated]`, async (t) => {
    const served = await serve(t);
    const answer = await rest(served, line, body === undefined ? {} : { body });
    assert.deepEqual(assertStatus(answer, 400, 'INVALID_PARAMS'), fields);
    assert.deepEqual(served.operations.calls, []);
  });
}

for (const [body, reason] of [
  ['{"message":', 'PARSE_ERROR'],
  ['['.repeat(200) + ']'.repeat(200), 'PARSE_ERROR'],
] as const) {
  test(`HTTP+JSON: the body ${body.slice(0, 20)} answers 400 ${reason}`, async (t) => {
    assertStatus(await rest(await serve(t), 'POST /message:send', { body }), 400, reason);
  });
}

for (const code of ERROR_CODES) {
  test(`HTTP+JSON errors: ${code} has its status, reason and when to come back [11.6-typed-details, 11.6-error-info, 3.3.2-typed-details, 3.3.2-code-message, 3.3.2-temporary]`, async (t) => {
    const error = new DomainError(code, 'outward text', { retryAfterMs: 1_500, cause: new Error('secret cause') });
    const operations = scriptedOperations({ getTask: () => Promise.reject(error) });
    const answer = await rest(await serve(t, { operations }), 'GET /tasks/t1');
    const row = ERROR_TABLE[code];
    assertStatus(answer, row.http, row.reason);
    assert.equal(answer.json.error.status, row.grpc);
    assert.equal(answer.json.error.message, 'internal' in row ? 'Internal error' : 'outward text');
    assert.equal(answer.headers.get('retry-after'), 'retry' in row ? '2' : null);
    assert.doesNotMatch(answer.text, /secret|stack/);
  });
}

test('HTTP+JSON: what is refused before authentication has the status and the form of this binding [7.4-codes]', async (t) => {
  const refusing = edgeOf({ authenticate: () => Promise.reject(new DomainError('UNAUTHENTICATED', 'Who?')) });
  const answer = await rest(await serve(t, { edge: refusing }), 'GET /tasks/t1');
  assertStatus(answer, 401, 'UNAUTHENTICATED');
  assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="test"');
  const full = await rest(await serve(t, { gate: gateOf({ requests: 0 }) }), 'GET /tasks/t1');
  assertStatus(full, 503, 'OVERLOADED');
  assert.equal(full.headers.get('retry-after'), '1');
});

test('HTTP+JSON: sizes are bounded as they are over JSON-RPC, declared or not', async (t) => {
  const served = await serve(t, { limits: { maxBodyBytes: 1_000 } });
  const large = send({ parts: [{ text: 'x'.repeat(1_000) }] });
  assertStatus(await rest(served, 'POST /message:send', { body: large }), 413, 'BODY_TOO_LARGE');
  const raw = await openRaw(t, served.port);
  const lines = ['POST /a2a/v1/message:send HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked'];
  raw.socket.write(`${lines.join('\r\n')}\r\n\r\n3e9\r\n${'x'.repeat(1_001)}\r\n0\r\n\r\n`);
  assert.match(await raw.until(/\}$/), /^HTTP\/1\.1 413 /);
  assert.deepEqual(served.operations.calls, []);
});

const TYPES: readonly (readonly [Record<string, string>, string | undefined])[] = [
  [{ 'Content-Type': 'application/json; charset=utf-8' }, 'application/json'],
  [{ 'Content-Type': 'application/a2a+json' }, 'application/a2a+json'],
  [{ 'Content-Type': 'Application/A2A+JSON' }, 'application/a2a+json'],
  [{ 'Content-Type': 'application/a2a+json', Accept: 'application/json' }, 'application/a2a+json'],
  [{ 'Content-Type': 'text/plain' }, undefined],
  [{ 'Content-Type': 'application/json; charset=utf-16' }, undefined],
  [{ 'Content-Encoding': 'gzip' }, undefined],
];
for (const [headers, type] of TYPES) {
  test(`HTTP+JSON: a body with ${JSON.stringify(headers)} is ${type ? `answered as ${type}` : '415'}`, async (t) => {
    const served = await serve(t);
    const answer = await rest(served, 'POST /message:send', { body: send(), headers });
    if (type === undefined) {
      assertStatus(answer, 415, 'CONTENT_TYPE_NOT_SUPPORTED');
      assert.deepEqual(served.operations.calls, []);
      return;
    }
    assert.deepEqual(answer.json, { task: TASK });
    assert.equal(answer.headers.get('content-type'), type);
    const refused = await rest(served, 'POST /message:send', { body: {}, headers });
    assert.equal(refused.headers.get('content-type'), type);
  });
}

test('HTTP+JSON: without a body the answer is what the caller accepts, plain JSON if it takes both', async (t) => {
  const served = await serve(t);
  for (const [accept, type] of [
    ['*/*', 'application/json'],
    ['application/a2a+json', 'application/a2a+json'],
    ['application/a2a+json, application/json', 'application/json'],
  ] as const) {
    const answer = await rest(served, 'GET /tasks/t1', { headers: { Accept: accept } });
    assert.equal(answer.headers.get('content-type'), type, accept);
  }
});

for (const line of ['POST /message:stream', 'POST /tasks/t1:subscribe', 'GET /tasks/t1:subscribe']) {
  test(`HTTP+JSON: ${line} is a stream of bare StreamResponses under the task's own numbers`, async (t) => {
    const frames = [textFrame(7, 'a\u2028b'), statusFrame(8, 'TASK_STATE_COMPLETED')];
    const operations = scriptedOperations({
      sendStreamingMessage: async () => framesOf(...frames),
      subscribeToTask: async () => framesOf(...frames),
    });
    const body = line.includes('message') ? { body: send() } : {};
    const answer = await rest(await serve(t, { operations }), line, body);
    assert.equal(answer.headers.get('content-type'), 'text/event-stream');
    const [first, second] = frames.map(({ body: frame }) => JSON.stringify(frame));
    assert.equal(answer.text, `id: 7\ndata: ${first?.replace('\u2028', '\\u2028')}\n\nid: 8\ndata: ${second}\n\n`);
  });
}

test('HTTP+JSON: Last-Event-ID resumes a subscription', async (t) => {
  const served = await serve(t, { operations: scriptedOperations({ subscribeToTask: async () => framesOf() }) });
  await rest(served, 'GET /tasks/t1:subscribe', { headers: { 'Last-Event-ID': '12' } });
  assert.deepEqual(served.operations.callsOf('subscribeToTask')[0]?.[2], { taskId: 't1', after: 12 });
});

test('HTTP+JSON: a refusal before the first event is plain JSON, a fault behind it an error event', async (t) => {
  const operations = scriptedOperations({
    sendStreamingMessage: async () =>
      (async function* () {
        yield { sequence: 1, body: { task: taskIn('TASK_STATE_WORKING') } };
        throw new Error('secret at /srv/x');
      })(),
  });
  const served = await serve(t, { operations });
  assertStatus(await rest(served, 'POST /tasks/nope:subscribe'), 404, 'TASK_NOT_FOUND');
  const { text } = await rest(served, 'POST /message:stream', { body: send() });
  const [, json = ''] = /\n\nevent: error\ndata: (.*)\n\n$/.exec(text) ?? [];
  const { error } = JSON.parse(json);
  assert.deepEqual([error.code, error.status, error.message], [500, 'INTERNAL', 'Internal error']);
  assert.doesNotMatch(text, /secret/);
});

test('HTTP+JSON: streaming off answers 400 on every way to a stream', async (t) => {
  const served = await serve(t, { edge: edgeOf({ streaming: false }) });
  for (const line of ['POST /tasks/t1:subscribe', 'GET /tasks/t1:subscribe']) {
    assertStatus(await rest(served, line), 400, 'UNSUPPORTED_OPERATION');
  }
  assertStatus(await rest(served, 'POST /message:stream', { body: send() }), 400, 'UNSUPPORTED_OPERATION');
  assert.deepEqual(served.operations.calls, []);
});

test('HTTP+JSON: it speaks 1.0, asked by header or query; everything else is told so', async (t) => {
  const served = await serve(t);
  const ask = (path: string, version: string) => rest(served, `GET ${path}`, { headers: { 'A2A-Version': version } });
  for (const version of ['1.0', ' 1.0 ', '1.0.7']) assert.equal((await ask('/tasks/t1', version)).status, 200);
  assert.equal((await ask('/tasks/t1?A2A-Version=1.0', '')).status, 200);
  for (const version of ['', '0.3', '2.0', 'abc']) {
    const answer = await ask('/tasks/t1', version);
    assertStatus(answer, 400, 'VERSION_NOT_SUPPORTED');
    assert.match(answer.json.error.message, /Supported A2A versions: 1\.0(\.|$)/);
  }
});

test('HTTP+JSON: outside its path nothing is its own', async (t) => {
  const served = await serve(t, { httpJsonPath: '/a2a/v1x' });
  const answer = await rest(served, 'GET /tasks/t1');
  assert.deepEqual([answer.status, answer.text], [404, 'Not Found']);
});
