import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { type TestContext, test } from 'node:test';
import { until } from '../support/until.ts';
import { assertEnded, CALLS, grpcClient } from './grpc.ts';
import { openGrpc } from './raw-grpc.ts';
import { openRaw, whole } from './raw-socket.ts';
import { rest } from './rest.ts';
import { assertRefused, call, rpc } from './rpc.ts';
import { scriptedOperations, taskIn } from './scripted-operations.ts';
import { gateOf, serve } from './serve.ts';
import { serveGrpc } from './serve-grpc.ts';

/* What lies in memory because nobody takes it. */

/** More than a socket's own buffers. */
const LARGE = { history: [{ messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'x'.repeat(20_000_000) }] }] };
const operations = () =>
  scriptedOperations({ getTask: async (_caller, id) => taskIn('TASK_STATE_COMPLETED', id === 'large' ? LARGE : {}) });
const TEXT = 'Too much waits to be taken at the moment';

test('answers: while others wait to be taken a large one is refused, and there again when they are gone', async (t) => {
  const refusals: (string | undefined)[] = [];
  const gate = gateOf({ answersBytes: 30_000_000 }, (_metric, labels) => refusals.push(labels?.limit));
  const served = await serve(t, { gate, operations: operations() });
  const raw = await openRaw(t, served.port);
  raw.socket.pause();
  raw.socket.write(whole(rpc('GetTask', { id: 'large' })));
  await until('its answer is there', () => served.counts.has('a2a_requests_total'));

  const refused = await call(served, 'GetTask', { id: 'large' });
  assertRefused(refused, -32603);
  const { message, data } = refused.json.error;
  assert.deepEqual([message, data[0].reason, data[1].retryDelay], [TEXT, 'OVERLOADED', '5s']);
  const plain = await rest(served, 'GET /tasks/large');
  assert.deepEqual([plain.status, plain.headers.get('retry-after')], [503, '5']);
  assert.equal((await call(served, 'GetTask', { id: 't1' })).json.result.id, 't1');
  assert.deepEqual(refusals, ['answers', 'answers']);

  raw.socket.destroy();
  const again = () => call(served, 'GetTask', { id: 'large' });
  const answer = await until('there is room', async () => {
    const { json } = await again();
    return json.result;
  });
  assert.equal(answer.history[0].parts[0].text.length, 20_000_000);
});

/** One call over HTTP/2 whose client takes nothing of its answer. */
async function untaken(t: TestContext) {
  const refusals: (string | undefined)[] = [];
  const gate = gateOf({ answersBytes: 30_000_000, requests: 2 }, (_metric, labels) => refusals.push(labels?.limit));
  const served = await serveGrpc(t, { gate, operations: operations() });
  const raw = await openGrpc(t, served.port, 'GetTask', {});
  raw.stream.pause();
  raw.send(CALLS.GetTask.encode({ id: 'large' }));
  raw.stream.end();
  // The timer of its message is gone by then, that of its answer is not.
  await until('its answer waits', () => served.operations.calls.length === 1 && served.clock.waiting() === 1);
  return { served, gate, raw, refusals, client: grpcClient(t, served.address) };
}

test('answers over gRPC: while others wait to be taken a large one is UNAVAILABLE, a small one is not', async (t) => {
  const { served, gate, client, raw, refusals } = await untaken(t);
  const refused = await client.ask('GetTask', { id: 'large' });
  assertEnded(refused, 'UNAVAILABLE', 'OVERLOADED');
  assert.deepEqual([refused.text, refused.retryMs], [TEXT, 5_000]);
  assert.equal((await client.ask('GetTask', { id: 't1' })).code, 'OK');
  assert.deepEqual(refusals, ['answers']);
  raw.stream.close(constants.NGHTTP2_CANCEL);
  await until('the call is over', () => served.clock.waiting() === 0);
  gate.enter('test').holdAnswer(29_000_000);
});

test('answers over gRPC: one that is not taken keeps its place for two minutes, then its call is reset', async (t) => {
  const { served, gate, raw } = await untaken(t);
  const other = gate.enter('test');
  assert.throws(() => gate.enter('test'), { limit: 'requests' });
  served.clock.advance(119_999);
  assert.throws(() => gate.enter('test'), { limit: 'requests' });
  const closed = raw.ended();
  served.clock.advance(1);
  gate.enter('test').holdAnswer(29_000_000);
  other.leave();
  await closed;
  assert.equal(raw.rstCode, 11);
  assert.deepEqual(served.counts.get('a2a_requests_total'), [{ edge: 'test', method: 'GetTask', outcome: 'ok' }]);
});

test('answers over gRPC: one that is taken leaves nothing behind', async (t) => {
  const served = await serveGrpc(t, { gate: gateOf({ requests: 1 }) });
  const client = grpcClient(t, served.address);
  for (const id of ['t1', 't1', 't1']) assert.equal((await client.ask('GetTask', { id })).code, 'OK');
  await until('no timer waits', () => served.clock.waiting() === 0);
});
