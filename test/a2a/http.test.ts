import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { DomainError } from '../../core/errors.ts';
import type { Stop } from '../../core/ports/stop.ts';
import { until } from '../support/until.ts';
import { head, openRaw, whole } from './raw-socket.ts';
import { call, post, rpc, send } from './rpc.ts';
import { scriptedOperations, taskIn } from './scripted-operations.ts';
import { edgeOf, gateOf, serve } from './serve.ts';

const LIMIT = 5 * 1_024 * 1_024;

function bodyOf(bytes: number): string {
  const empty = rpc('SendMessage', send({ parts: [{ text: '' }] }));
  return empty.replace('"text":""', `"text":"${'x'.repeat(bytes - empty.length)}"`);
}

function refusing(error: unknown) {
  return edgeOf({ authenticate: () => Promise.reject(error) });
}

test('HTTP: a body at the limit is read, one byte more is refused as JSON', async (t) => {
  const served = await serve(t);
  assert.ok((await post(served, bodyOf(150_000))).json.result);
  assert.ok((await post(served, bodyOf(LIMIT))).json.result);
  const over = await post(served, bodyOf(LIMIT + 1));
  assert.equal(over.status, 413);
  assert.equal(over.json.error.code, -32600);
  assert.equal(over.json.id, null);
});

test('HTTP: a declared gigabyte is refused before any of it comes, and the socket is closed', async (t) => {
  const served = await serve(t, { edge: refusing(new Error('must not be asked')) });
  const raw = await openRaw(t, served.port);
  raw.socket.write(head(['Content-Length: 1073741824']));
  const answer = await raw.until(/\}$/);
  assert.match(answer, /^HTTP\/1\.1 413 /);
  assert.match(answer, /Connection: close/);
  assert.match(answer, /"id":null,"error":\{"code":-32600/);
  served.clock.advance(2_000);
  await raw.closed();
});

test('HTTP: an endless upload is refused, thrown away and never kept in memory [13.4-limits]', async (t) => {
  const served = await serve(t);
  const raw = await openRaw(t, served.port);
  raw.socket.write(head(['Transfer-Encoding: chunked']));
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 'x'), Buffer.from('\r\n')]);
  const before = process.memoryUsage().arrayBuffers;
  let peak = 0;
  for (let sent = 0; sent < 192 * 1_024 * 1_024; sent += 0x10000) {
    if (!raw.socket.write(chunk)) await once(raw.socket, 'drain');
    peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
  }
  const answer = await raw.until(/\}$/);
  assert.match(answer, /^HTTP\/1\.1 200 /);
  assert.match(answer, /"error":\{"code":-32600/);
  // What was thrown away is garbage for a while, so this is far above the limit and far below what was sent.
  assert.ok(peak < 96 * 1_024 * 1_024, `${peak} bytes`);
  raw.socket.write('0\r\n\r\n');
  await raw.closed();
  assert.deepEqual(served.operations.calls, []);
});

test('HTTP: Expect: 100-continue is answered before the body is asked for', async (t) => {
  const served = await serve(t);
  const raw = await openRaw(t, served.port);
  const body = rpc('GetTask', { id: 't1' });
  raw.socket.write(head([`Content-Length: ${body.length}`, 'Expect: 100-continue']));
  await raw.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  raw.socket.write(body);
  await raw.until(/"result":\{"id":"t1"/);
});

test('HTTP: a body that does not come is given up, and the connection with it', async (t) => {
  const served = await serve(t);
  const raw = await openRaw(t, served.port);
  raw.socket.write(`${head(['Content-Length: 100'])}{"jsonrpc":`);
  while (served.clock.waiting() === 0) await new Promise(setImmediate);
  served.clock.advance(30_000);
  const answer = await raw.until(/\}$/);
  assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*Connection: close[\s\S]*"code":-32600/);
  served.clock.advance(2_000);
  await raw.closed();
});

test('HTTP: a body is the same wherever it is cut, and the connection goes on after it', async (t) => {
  const served = await serve(t);
  const raw = await openRaw(t, served.port);
  const body = rpc('GetTask', { id: 't1' }, 'cut');
  for (const at of [0, 1, Math.floor(body.length / 2), body.length - 1, body.length]) {
    const before = raw.received().length;
    raw.socket.write(head([`Content-Length: ${body.length}`]) + body.slice(0, at));
    if (at < body.length) {
      await until('it waits for the rest', () => served.clock.waiting() > 0);
      raw.socket.write(body.slice(at));
    }
    await until('its answer', () => /"id":"cut","result"/.test(raw.received().slice(before)));
    await until('its answer is taken', () => served.clock.waiting() === 0);
  }
  assert.doesNotMatch(raw.received(), /Connection: close/);
  assert.equal(served.operations.calls.length, 5);
});

test('HTTP: bodies above what Node keeps in a buffer are whole, one after the other on a connection', async (t) => {
  const served = await serve(t);
  const raw = await openRaw(t, served.port);
  for (const bytes of [16_384, 20_000, 60_000, 65_536, 100_000, 300]) {
    const before = raw.received().length;
    raw.socket.write(whole(bodyOf(bytes)));
    await until(`an answer to ${bytes} bytes`, () => /"result"/.test(raw.received().slice(before)));
  }
  const sizes = served.operations.callsOf('sendMessage').map(([, incoming]) => JSON.stringify(incoming).length);
  assert.deepEqual(
    [...sizes].sort((a, b) => a - b),
    [sizes[5], ...sizes.slice(0, 5)],
  );
  assert.ok((sizes[4] ?? 0) > 100_000);
});

test('HTTP: a caller who is refused keeps its connection when its body came along', async (t) => {
  const served = await serve(t, { edge: refusing(new DomainError('UNAUTHENTICATED', 'Who?')) });
  const raw = await openRaw(t, served.port);
  for (const count of [1, 2]) {
    raw.socket.write(whole(rpc('GetTask', { id: 't1' })));
    await until('an answer', () => raw.received().match(/HTTP\/1\.1 401 /g)?.length === count);
  }
  assert.doesNotMatch(raw.received(), /Connection: close/);
});

test('HTTP: a request whose line alone is wrong keeps its connection when its body came along', async (t) => {
  const served = await serve(t);
  const raw = await openRaw(t, served.port);
  const request = whole(rpc('GetTask', { id: 't1' }));
  const wrong: readonly (readonly [string, RegExp])[] = [
    [request.replace('POST', 'PUT'), /HTTP\/1\.1 405 /],
    [request.replace('/a2a', '/a2a/v1/nothing'), /HTTP\/1\.1 404 /],
    ['GET /a2a HTTP/1.1\r\nHost: localhost\r\n\r\n', /405 [\s\S]*404 [\s\S]*405 /],
  ];
  for (const [text, pattern] of wrong) {
    raw.socket.write(text);
    await raw.until(pattern);
  }
  raw.socket.write(request);
  await raw.until(/"result":\{"id":"t1"/);
  assert.doesNotMatch(raw.received(), /Connection: close/);
});

test('HTTP: requests that come in one piece are answered in their order', async (t) => {
  const served = await serve(t);
  const raw = await openRaw(t, served.port);
  const ids = ['first', 'second', 'third'];
  raw.socket.write(ids.map((id) => whole(rpc('GetTask', { id: 't1' }, id))).join(''));
  const text = await raw.until(/"id":"third"/);
  assert.deepEqual(
    [...text.matchAll(/"id":"(\w+)","result"/g)].map(([, id]) => id),
    ids,
  );
});

test('HTTP: a client that leaves in the middle of its body costs nothing', async (t) => {
  const served = await serve(t);
  const raw = await openRaw(t, served.port);
  raw.socket.write(`${head(['Content-Length: 100'])}{"jsonrpc":`);
  while (served.clock.waiting() === 0) await new Promise(setImmediate);
  raw.socket.destroy();
  while (served.clock.waiting() > 0) await new Promise(setImmediate);
  assert.ok((await call(served, 'GetTask', { id: 't1' })).json.result);
  assert.deepEqual(served.events, []);
});

test('HTTP: a connection is used again after an answer, also after a refusal', async (t) => {
  const served = await serve(t);
  const raw = await openRaw(t, served.port);
  for (const [body, pattern] of [
    [rpc('GetTask', { id: 't1' }, 'first'), /"id":"first","result"/],
    [rpc('Foo', {}, 'second'), /"id":"second","error"/],
    [rpc('GetTask', { id: 't1' }, 'third'), /"id":"third","result"/],
  ] as const) {
    raw.socket.write(whole(body));
    await raw.until(pattern);
  }
  assert.doesNotMatch(raw.received(), /Connection: close/);
});

const BEFORE_AUTHENTICATION: readonly (readonly [DomainError, number, string | null])[] = [
  [new DomainError('FORBIDDEN', 'not from here'), 403, null],
  [new DomainError('AUTHENTICATION_UNAVAILABLE', 'no keys', { retryAfterMs: 29_001 }), 503, '30'],
  [new DomainError('STORE_UNAVAILABLE', 'later'), 503, '1'],
  [new DomainError('OVERLOADED', 'later', { retryAfterMs: 2_000 }), 429, '2'],
];
for (const [error, status, retryAfter] of BEFORE_AUTHENTICATION) {
  test(`HTTP: ${error.code} of an edge answers ${status} with a JSON-RPC error`, async (t) => {
    const answer = await call(await serve(t, { edge: refusing(error) }), 'GetTask', { id: 't1' });
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get('retry-after'), retryAfter);
    assert.equal(answer.json.error.message, error.message);
    assert.equal(answer.json.error.data[0].reason, error.code);
  });
}

test('HTTP: an unauthenticated call is answered 401 and a challenge before its body has come', async (t) => {
  const served = await serve(t, { edge: refusing(new DomainError('UNAUTHENTICATED', 'Who?')) });
  const raw = await openRaw(t, served.port);
  raw.socket.write(head(['Content-Length: 1000']));
  const answer = await raw.until(/\}$/);
  assert.match(answer, /^HTTP\/1\.1 401 /);
  assert.match(answer, /WWW-Authenticate: Bearer realm="test"\r\n/i);
  assert.match(answer, /"id":null,"error":\{"code":-32600,"message":"Who\?"/);
  const invalid = await call(served, 'GetTask', {}, { headers: { Authorization: 'Bearer x' } });
  assert.equal(invalid.headers.get('www-authenticate'), 'Bearer realm="test", error="invalid_token"');
});

test('HTTP: two Authorization headers answer 401, whatever the edge would say to the first', async (t) => {
  const served = await serve(t);
  const raw = await openRaw(t, served.port);
  raw.socket.write(whole(rpc('GetTask', { id: 't1' }), ['Authorization: Bearer a', 'authorization: Bearer b']));
  assert.match(await raw.until(/\}$/), /^HTTP\/1\.1 401 /);
  assert.deepEqual(served.operations.calls, []);
});

test('HTTP: a fault of an edge answers 500 with a fixed text and is logged', async (t) => {
  const fault = new Error('secret');
  const served = await serve(t, { edge: refusing(fault) });
  const answer = await call(served, 'GetTask', { id: 't1' });
  assert.equal(answer.status, 500);
  assert.equal(answer.json.error.code, -32603);
  assert.doesNotMatch(answer.text, /secret/);
  assert.deepEqual(served.events, [{ level: 'error', name: 'authentication.failed', error: fault }]);
});

test('HTTP: other methods than POST answer 405', async (t) => {
  const served = await serve(t);
  for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
    const response = await fetch(`${served.origin}/a2a`, { method });
    assert.equal(response.status, 405, method);
    assert.equal(response.headers.get('allow'), 'POST');
    assert.equal(JSON.parse(await response.text()).error.code, -32600);
  }
});

test('HTTP: calls beyond the bound and calls during a shutdown answer 503 and when to come back [13.4-limit-errors]', async (t) => {
  const full = await serve(t, { gate: gateOf({ requests: 0 }) });
  const stopping = await serve(t);
  stopping.shutdown.abort();
  for (const served of [full, stopping]) {
    const answer = await call(served, 'GetTask', { id: 't1' });
    assert.equal(answer.status, 503);
    assert.equal(answer.headers.get('retry-after'), '1');
    assert.equal(answer.json.error.data[0].reason, 'OVERLOADED');
    assert.deepEqual(served.operations.calls, []);
  }
});

test('HTTP: a call whose body comes during a shutdown does not wait', async (t) => {
  const operations = scriptedOperations({
    sendMessage: async (_edge, _incoming, _options, signal) => ({
      task: taskIn(signal.aborted ? 'TASK_STATE_WORKING' : 'TASK_STATE_COMPLETED'),
    }),
  });
  const served = await serve(t, { operations });
  const raw = await openRaw(t, served.port);
  const body = rpc('SendMessage', send());
  raw.socket.write(head([`Content-Length: ${body.length}`]));
  while (served.clock.waiting() === 0) await new Promise(setImmediate);
  served.shutdown.abort();
  raw.socket.write(body);
  await raw.until(/TASK_STATE_WORKING/);
});

test('HTTP: a blocking call stops to wait when its client leaves and when the server stops', async (t) => {
  const signals: Stop[] = [];
  const operations = scriptedOperations({
    sendMessage: (_edge, _incoming, _options, signal) => {
      signals.push(signal);
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ task: taskIn('TASK_STATE_WORKING') }));
      });
    },
  });
  const served = await serve(t, { operations });
  const leaving = await openRaw(t, served.port);
  leaving.socket.write(whole(rpc('SendMessage', send())));
  while (signals.length < 1) await new Promise(setImmediate);
  leaving.socket.destroy();
  while (!signals[0]?.aborted) await new Promise(setImmediate);

  const staying = call(served, 'SendMessage', send());
  while (signals.length < 2) await new Promise(setImmediate);
  served.shutdown.abort();
  assert.equal((await staying).json.result.task.status.state, 'TASK_STATE_WORKING');
});
