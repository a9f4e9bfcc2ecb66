import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Session } from '../../adapters/a2a/edge.ts';
import { overloaded } from '../../core/errors.ts';
import { LOAD_LIMITS, type LoadLimit } from '../../core/limits.ts';
import { createGate } from '../support/until.ts';
import { frameScript } from './frame-script.ts';
import { head, openRaw, whole } from './raw-socket.ts';
import { rest } from './rest.ts';
import { type Answer, assertRefused, call, rpc, send } from './rpc.ts';
import { framesOf, scriptedOperations, statusFrame, taskIn } from './scripted-operations.ts';
import { edgeOf, gateOf, OWNER, type Served, serve } from './serve.ts';

/** The caller is whoever the header says. */
const MANY = edgeOf({
  authenticate: async (headers): Promise<Session> => ({
    caller: { owner: { ...OWNER, principal: String(headers['x-who'] ?? 'alice') } },
    tenant: 't1',
    prepare: ({ params }) => ({ params, deadlineMs: 86_400_000 }),
  }),
});
const BOB = { headers: { 'x-who': 'bob' } };

/** Refused over JSON-RPC as whoever has too much, or meets others who have. */
function assertOverloaded(answer: Answer, text: string, id: unknown = 1): void {
  assertRefused(answer, -32603, id);
  const { message, data } = answer.json.error;
  assert.equal(message, text);
  assert.equal(data[0].reason, 'OVERLOADED');
  assert.match(data[1].retryDelay, /^\d+s$/);
}

/** A server whose SendMessage waits until it is let go, and which says what it refused. */
async function busy(t: import('node:test').TestContext, limits: Parameters<typeof gateOf>[0]) {
  const refusals: string[] = [];
  const gate = gateOf(limits, (_metric, labels) => refusals.push(labels?.limit ?? ''));
  const letGo = createGate();
  const operations = scriptedOperations({
    sendMessage: () => letGo.opened.then(() => ({ task: taskIn('TASK_STATE_COMPLETED') })),
    sendStreamingMessage: async (_edge, _incoming, signal) => {
      const script = frameScript(signal);
      script.push({ sequence: 1, body: { task: taskIn('TASK_STATE_WORKING') } });
      return script;
    },
  });
  const served = await serve(t, { edge: MANY, gate, operations });
  return { served, refusals, operations, letGo, gate };
}

async function waits(served: Served, count: number): Promise<void> {
  while (served.operations.callsOf('sendMessage').length < count) await new Promise(setImmediate);
}

async function openStream(t: import('node:test').TestContext, { port }: Served, who: string) {
  const raw = await openRaw(t, port);
  raw.socket.write(whole(rpc('SendStreamingMessage', send()), [`x-who: ${who}`]));
  await raw.until(/data: /);
  return raw;
}

test('requests of one caller: beyond the bound refused with the reason and when to come back, nobody else is', async (t) => {
  const { served, refusals, letGo } = await busy(t, { requestsPerPrincipal: 2 });
  const waiting = [call(served, 'SendMessage', send()), call(served, 'SendMessage', send())];
  await waits(served, 2);
  assertOverloaded(await call(served, 'GetTask', { id: 't1' }), 'Too many calls of yours are being answered', null);
  const plain = await rest(served, 'GET /tasks/t1');
  assert.deepEqual([plain.status, plain.headers.get('retry-after')], [429, '1']);
  assert.equal((await call(served, 'GetTask', { id: 't1' }, BOB)).json.result.id, 't1');
  assert.deepEqual(refusals, ['requests-per-principal', 'requests-per-principal']);
  assert.deepEqual(served.events, []);
  letGo.open();
  await Promise.all(waiting);
  assert.equal((await call(served, 'GetTask', { id: 't1' })).json.result.id, 't1');
});

test('requests in all: beyond the bound 503 in either binding before anybody is asked who it is', async (t) => {
  const { served, refusals, letGo } = await busy(t, { requests: 1 });
  const waiting = call(served, 'SendMessage', send());
  await waits(served, 1);
  for (const answer of [await call(served, 'GetTask', { id: 't1' }, BOB), await rest(served, 'GET /tasks/t1')]) {
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1']);
  }
  assert.deepEqual(refusals, ['requests', 'requests']);
  letGo.open();
  await waiting;
  assert.equal((await call(served, 'GetTask', { id: 't1' })).json.result.id, 't1');
});

test('streams of one caller: beyond the bound refused before its message is accepted, nobody else is', async (t) => {
  const { served, refusals, operations } = await busy(t, { streamsPerPrincipal: 2 });
  const first = await openStream(t, served, 'alice');
  await openStream(t, served, 'alice');
  const text = 'Too many streams of yours are open';
  assertOverloaded(await call(served, 'SendStreamingMessage', send()), text);
  assertOverloaded(await call(served, 'SubscribeToTask', { id: 't1' }), text);
  const plain = await rest(served, 'POST /message:stream', { body: send() });
  assert.deepEqual([plain.status, plain.headers.get('retry-after')], [429, '5']);
  assert.equal(operations.callsOf('sendStreamingMessage').length, 2);
  assert.equal(operations.callsOf('subscribeToTask').length, 0);
  assert.deepEqual(refusals, Array(3).fill('streams-per-principal'));
  await openStream(t, served, 'bob');
  first.socket.destroy();
  while ((served.counts.get('a2a_stream_ends_total') ?? []).length === 0) await new Promise(setImmediate);
  await openStream(t, served, 'alice');
});

test('streams in all: beyond the bound refused, with 503 over HTTP+JSON', async (t) => {
  const { served, refusals } = await busy(t, { streams: 1 });
  await openStream(t, served, 'alice');
  assertOverloaded(await call(served, 'SendStreamingMessage', send(), BOB), 'Too many streams are open');
  assert.equal((await rest(served, 'POST /message:stream', { body: send() })).status, 503);
  assert.deepEqual(refusals, ['streams', 'streams']);
});

test('streams: those that are open leave every request its place', async (t) => {
  const { served, refusals } = await busy(t, { requests: 1, requestsPerPrincipal: 1 });
  for (let n = 0; n < 20; n += 1) await openStream(t, served, 'alice');
  for (let n = 0; n < 5; n += 1) assert.equal((await call(served, 'GetTask', { id: 't1' })).json.result.id, 't1');
  assert.deepEqual(refusals, []);
});

test('streams: a call that failed before its stream began leaves its place', async (t) => {
  const { served, refusals } = await busy(t, { streams: 1, streamsPerPrincipal: 1 });
  for (let n = 0; n < 3; n += 1) {
    assertRefused(await call(served, 'SubscribeToTask', { id: 'unknown' }), -32001);
    assertRefused(await call(served, 'SendStreamingMessage', {}), -32602);
  }
  await openStream(t, served, 'alice');
  assert.deepEqual(refusals, []);
});

test('requests: whoever is refused because the service is full keeps its connection, and calls again on it', async (t) => {
  const { served, letGo } = await busy(t, { requests: 1 });
  const waiting = call(served, 'SendMessage', send());
  await waits(served, 1);
  const raw = await openRaw(t, served.port);
  raw.socket.write(whole(rpc('GetTask', { id: 't1' })));
  await raw.until(/HTTP\/1\.1 503 [\s\S]*OVERLOADED/);
  letGo.open();
  await waiting;
  raw.socket.write(whole(rpc('GetTask', { id: 't1' })));
  assert.doesNotMatch(await raw.until(/"result":\{"id":"t1"/), /Connection: close/);
});

test('bodies: while others hold too much of the memory a body is refused, and read again when they are gone', async (t) => {
  const { served, refusals, letGo } = await busy(t, { bodiesBytes: 10_000 });
  const large = send({ parts: [{ text: 'x'.repeat(9_000) }] });
  const waiting = call(served, 'SendMessage', large);
  await waits(served, 1);
  assertOverloaded(await call(served, 'SendMessage', large, BOB), 'The service reads too much at the moment', null);
  const raw = await openRaw(t, served.port);
  raw.socket.write(`${head(['Transfer-Encoding: chunked'])}bb8\r\n${'x'.repeat(3_000)}\r\n`);
  assert.match(await raw.until(/OVERLOADED/), /connection: close/i);
  assert.deepEqual(refusals, ['bodies', 'bodies']);
  letGo.open();
  await waiting;
  assert.equal((await call(served, 'SendMessage', large)).json.result.task.id, 't1');
});

test('a body that is larger than all bodies may be still comes in, alone', async (t) => {
  const { served, letGo, gate } = await busy(t, { bodiesBytes: 10 });
  letGo.open();
  const answer = await call(served, 'SendMessage', send());
  assert.equal(answer.json.result.task.id, 't1');
  const place = gate.enter('test');
  for (let chunk = 0; chunk < 3; chunk += 1) place.holdBody(8);
  assert.throws(() => gate.enter('test').holdBody(1), { code: 'OVERLOADED', limit: 'bodies' });
});

test('an answer that nobody takes keeps the place of its call, until its connection is cut', async (t) => {
  const history = [{ messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'x'.repeat(30_000_000) }] }];
  const operations = scriptedOperations({
    getTask: async (_caller, id) => taskIn('TASK_STATE_COMPLETED', id === 'large' ? { history } : {}),
  });
  const served = await serve(t, { edge: MANY, gate: gateOf({ requestsPerPrincipal: 1 }), operations });
  const raw = await openRaw(t, served.port);
  raw.socket.pause();
  raw.socket.write(whole(rpc('GetTask', { id: 'large' })));
  while (operations.callsOf('getTask').length === 0) await new Promise(setImmediate);
  while (!served.counts.has('a2a_requests_total')) await new Promise(setImmediate);
  const text = 'Too many calls of yours are being answered';
  assertOverloaded(await call(served, 'GetTask', { id: 't1' }), text, null);
  served.clock.advance(120_000);
  raw.socket.resume();
  await raw.closed();
  assert.equal((await call(served, 'GetTask', { id: 't1' })).json.result.id, 't1');
});

test('places: all are free again whatever became of the call', async (t) => {
  const { served, gate } = await busy(t, { requests: 2, streams: 2, bodiesBytes: 2_000 });
  const gone = await openRaw(t, served.port);
  gone.socket.write(head(['Content-Length: 100']));
  while (served.clock.waiting() === 0) await new Promise(setImmediate);
  gone.socket.destroy();
  while (served.clock.waiting() > 0) await new Promise(setImmediate);
  await call(served, 'GetTask', { id: 't1' }, { headers: { 'Content-Type': 'text/plain' } });
  await call(served, 'Nonsense');
  const places = [gate.enter('test'), gate.enter('test')];
  assert.throws(() => gate.enter('test'), { code: 'OVERLOADED', limit: 'requests' });
  for (const place of places) place.becomeStream();
  const third = gate.enter('test');
  assert.throws(() => third.becomeStream(), { code: 'OVERLOADED', limit: 'streams' });
  third.holdBody(2_000);
  third.leave();
  third.leave();
  gate.enter('test').holdBody(2_000);
});

const SHARED = Object.entries(LOAD_LIMITS) as [LoadLimit, 'all' | 'one'][];
for (const [limit, whose] of SHARED) {
  test(`HTTP+JSON: ${limit} answers ${whose === 'all' ? 503 : 429} and when to come back`, async (t) => {
    const operations = scriptedOperations({
      getTask: () => Promise.reject(overloaded(limit, 'outward text', 2_000)),
    });
    const answer = await rest(await serve(t, { operations }), 'GET /tasks/t1');
    assert.equal(answer.status, whose === 'all' ? 503 : 429);
    assert.equal(answer.headers.get('retry-after'), '2');
    assert.equal(answer.json.error.details[0].reason, 'OVERLOADED');
  });
}

test('a stream that was refused is nowhere counted as one', async (t) => {
  const { served } = await busy(t, { streams: 0 });
  await call(served, 'SendStreamingMessage', send());
  assert.equal(served.counts.get('a2a_stream_ends_total'), undefined);
  const whole = await serve(t, {
    operations: scriptedOperations({
      sendStreamingMessage: async () => framesOf(statusFrame(1, 'TASK_STATE_COMPLETED')),
    }),
  });
  await call(whole, 'SendStreamingMessage', send());
  assert.equal(whole.counts.get('a2a_stream_ends_total')?.length, 1);
});

test('a bound that the operation meets: refused without a line of the log for each, over both bindings', async (t) => {
  const full = overloaded('queue', 'Too many messages wait for the agent', 1_000);
  const served = await serve(t, {
    edge: MANY,
    operations: scriptedOperations({ sendMessage: () => Promise.reject(full) }),
  });
  assertOverloaded(await call(served, 'SendMessage', send()), 'Too many messages wait for the agent');
  assert.equal((await rest(served, 'POST /message:send', { body: send() })).status, 503);
  assert.deepEqual(served.events, []);
});
