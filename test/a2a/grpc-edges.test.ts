import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnonymousEdge } from '../../adapters/a2a/anonymous-edge.ts';
import { createJwtEdge } from '../../adapters/a2a/jwt-edge.ts';
import { DomainError } from '../../core/errors.ts';
import { createGate, until } from '../support/until.ts';
import { frameScript } from './frame-script.ts';
import { assertEnded, CALLS, grpcClient } from './grpc.ts';
import { openGrpc } from './raw-grpc.ts';
import { send } from './rpc.ts';
import { scriptedOperations, taskIn } from './scripted-operations.ts';
import { edgeOf, gateOf, PROFILE } from './serve.ts';
import { type GrpcServed, serveGrpc } from './serve-grpc.ts';

const COMMON = { profile: PROFILE, versions: ['1.0'], streaming: true, agent: 'agent', deadlineMs: 1_000 };
const ANONYMOUS = createAnonymousEdge(COMMON);

function jwtEdge(verify: (token: string) => Promise<Record<string, unknown>>) {
  return createJwtEdge({ ...COMMON, verify, issuer: 'https://issuer.test', tenantClaim: 'org' });
}

const HARBOR = jwtEdge(async (token) => {
  if (token !== 'good') throw new Error(`no signature: ${token}`);
  return { sub: 'alice', org: 't1' };
});

async function outcome(served: GrpcServed): Promise<string | undefined> {
  const [counted] = await until('the call is counted', () => served.counts.get('a2a_requests_total'));
  return counted?.outcome;
}

const TOKENS: readonly (readonly [string, Record<string, string | readonly string[]>, RegExp])[] = [
  ['no token', {}, /^Bearer realm="test"$/],
  ['a wrong one', { authorization: 'Bearer bad' }, /^Bearer realm="test", error="invalid_token"$/],
  ['another scheme', { authorization: 'Basic Zm9v' }, /invalid_token/],
  ['a token in another entry', { token: 'good' }, /^Bearer realm="test"$/],
];
for (const [name, metadata, challenge] of TOKENS) {
  test(`gRPC with a JWT: ${name} is UNAUTHENTICATED with a challenge, and nothing of the message is read [7.4-codes]`, async (t) => {
    const served = await serveGrpc(t, { edge: HARBOR });
    const client = grpcClient(t, served.address);
    const replies = [
      await client.ask('SendMessage', new Uint8Array([255]), { metadata }),
      await client.read('SendStreamingMessage', send(), { metadata }),
    ];
    for (const reply of replies) {
      assertEnded(reply, 'UNAUTHENTICATED', 'UNAUTHENTICATED');
      assert.match(String(reply.trailers.get('www-authenticate')[0]), challenge);
      assert.doesNotMatch(JSON.stringify(reply.trailers.toJSON()), /signature|bad/);
    }
    assert.deepEqual(served.operations.calls, []);
    assert.equal(await outcome(served), 'grpc-UNAUTHENTICATED');
  });
}

test('gRPC with a JWT: the token says who calls, in which tenant and in which trace', async (t) => {
  const served = await serveGrpc(t, { edge: HARBOR });
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const metadata = { authorization: 'Bearer good', traceparent };
  const { code } = await grpcClient(t, served.address).ask('GetTask', { id: 't1', tenant: 't1' }, { metadata });
  assert.equal(code, 'OK');
  const owner = { tenant: 'jwt:https://issuer.test:t1', principal: 'alice', agent: 'agent' };
  const caller = { owner, trace: traceparent, binding: 'test', version: '1.0' };
  assert.deepEqual(served.operations.callsOf('getTask')[0]?.[0], caller);
});

test('gRPC: who calls is settled while the message is still on its way', async (t) => {
  const served = await serveGrpc(t, { edge: HARBOR });
  const call = await openGrpc(t, served.port, 'SendMessage', {});
  const ended = call.ended();
  assert.equal(await outcome(served), 'grpc-UNAUTHENTICATED');
  // The client goes on for as long as it is let.
  const flood = setInterval(() => call.stream.write(Buffer.alloc(1_000)), 1);
  t.after(() => clearInterval(flood));
  served.clock.advance(2_000);
  assertEnded(await ended, 'UNAUTHENTICATED', 'UNAUTHENTICATED');
  assert.equal(call.stream.destroyed, true);
});

test('gRPC: an edge that cannot tell who calls is UNAVAILABLE and says when to come back', async (t) => {
  const down = new DomainError('AUTHENTICATION_UNAVAILABLE', 'The key set cannot be reached', { retryAfterMs: 5_000 });
  const served = await serveGrpc(t, { edge: edgeOf({ authenticate: () => Promise.reject(down) }) });
  const reply = await grpcClient(t, served.address).ask('GetTask', { id: 't1' });
  assertEnded(reply, 'UNAVAILABLE', 'AUTHENTICATION_UNAVAILABLE');
  assert.equal(reply.retryMs, 5_000);
  assert.deepEqual(
    served.events.map(({ level, name }) => [level, name]),
    [['warn', 'authentication.failed']],
  );
});

test('gRPC: a fault of the edge itself is INTERNAL, in a fixed text', async (t) => {
  const served = await serveGrpc(t, { edge: edgeOf({ authenticate: () => Promise.reject(new TypeError('secret')) }) });
  const reply = await grpcClient(t, served.address).ask('GetTask', { id: 't1' });
  assertEnded(reply, 'INTERNAL', 'INTERNAL_ERROR');
  assert.equal(reply.text, 'Internal error');
});

test('gRPC for anybody on this machine: a call of this machine passes', async (t) => {
  const served = await serveGrpc(t, { edge: ANONYMOUS });
  assert.equal((await grpcClient(t, served.address).ask('GetTask', { id: 't1' })).code, 'OK');
  assert.equal((await grpcClient(t, `localhost:${served.port}`).ask('GetTask', { id: 't1' })).code, 'OK');
});

const FOREIGN: readonly (readonly [string, Record<string, string>])[] = [
  ['for another host', { ':authority': 'agent.example' }],
  ['for another host beside a local one', { host: 'agent.example' }],
  ['through a proxy', { forwarded: 'for=192.0.2.1' }],
  ['through a load balancer', { 'x-forwarded-for': '192.0.2.1' }],
  ['through a tunnel', { 'cf-connecting-ip': '192.0.2.1' }],
  ['through Envoy', { 'x-forwarded-proto': 'https' }],
];
for (const [name, headers] of FOREIGN) {
  test(`gRPC for anybody on this machine: a call ${name} is refused`, async (t) => {
    const served = await serveGrpc(t, { edge: ANONYMOUS });
    const call = await openGrpc(t, served.port, 'GetTask', { ':authority': served.address, ...headers });
    call.send(CALLS.GetTask.encode({ id: 't1' }));
    call.stream.end();
    assertEnded(await call.ended(), 'PERMISSION_DENIED', 'FORBIDDEN');
    assert.deepEqual(served.operations.calls, []);
  });
}

test('gRPC: a header that no header may be is neither printed nor passed on', async (t) => {
  const printed: unknown[] = [];
  t.mock.method(console, 'error', (...words: unknown[]) => printed.push(words));
  const served = await serveGrpc(t, { edge: HARBOR });
  const call = await openGrpc(t, served.port, 'GetTask', { authorization: 'Bearer secr\u00e9t' });
  call.send(CALLS.GetTask.encode({ id: 't1' }));
  call.stream.end();
  assertEnded(await call.ended(), 'UNAUTHENTICATED', 'UNAUTHENTICATED');
  assert.deepEqual(printed, []);
});

test('gRPC: a service that is full or stopping is UNAVAILABLE, and counts a call until it is over', async (t) => {
  let open = (): void => {};
  const waiting = new Promise<void>((resolve) => {
    open = resolve;
  });
  const served = await serveGrpc(t, {
    gate: gateOf({ requests: 1 }),
    edge: edgeOf({
      authenticate: async () => {
        await waiting;
        throw new DomainError('UNAUTHENTICATED', 'Who?');
      },
    }),
  });
  const client = grpcClient(t, served.address);
  const first = client.ask('GetTask', { id: 't1' });
  const second = await client.ask('GetTask', { id: 't1' });
  assertEnded(second, 'UNAVAILABLE', 'OVERLOADED');
  assert.equal(second.retryMs, 1_000);
  open();
  assertEnded(await first, 'UNAUTHENTICATED', 'UNAUTHENTICATED');
  assertEnded(await client.ask('GetTask', { id: 't1' }), 'UNAUTHENTICATED', 'UNAUTHENTICATED');
  served.shutdown.abort();
  assertEnded(await client.ask('GetTask', { id: 't1' }), 'UNAVAILABLE', 'OVERLOADED');
});

test('gRPC: a caller that has too much is RESOURCE_EXHAUSTED, a service that has is UNAVAILABLE', async (t) => {
  const waiting = createGate();
  const operations = scriptedOperations({
    getTask: () => waiting.opened.then(() => taskIn('TASK_STATE_COMPLETED')),
    sendStreamingMessage: async (_edge, _incoming, signal) => {
      const script = frameScript(signal);
      script.push({ sequence: 1, body: { task: taskIn('TASK_STATE_WORKING') } });
      return script;
    },
  });
  const refusals: (string | undefined)[] = [];
  const limits = { requestsPerPrincipal: 1, streamsPerPrincipal: 1, bodiesBytes: 2_000 };
  const gate = gateOf(limits, (_metric, labels) => refusals.push(labels?.limit));
  const served = await serveGrpc(t, { gate, operations });
  const client = grpcClient(t, served.address);
  const stream = await openGrpc(t, served.port, 'SendStreamingMessage', {});
  stream.send(CALLS.SendStreamingMessage.encode(send()));
  stream.stream.end();
  await until('it is open', () => operations.callsOf('sendStreamingMessage').length === 1);
  assertEnded(await client.read('SendStreamingMessage', send()), 'RESOURCE_EXHAUSTED', 'OVERLOADED');
  assert.equal(operations.callsOf('sendStreamingMessage').length, 1);
  const asked = client.ask('GetTask', { id: 't1' });
  await until('it waits', () => operations.callsOf('getTask').length === 1);
  const second = await client.ask('GetTask', { id: 't1' });
  assertEnded(second, 'RESOURCE_EXHAUSTED', 'OVERLOADED');
  assert.equal(second.retryMs, 1_000);
  waiting.open();
  assert.equal((await asked).code, 'OK');
  const held = gate.enter('test');
  held.holdBody(1_999);
  assertEnded(await client.ask('SendMessage', send()), 'UNAVAILABLE', 'OVERLOADED');
  held.leave();
  assert.equal((await client.ask('SendMessage', send())).code, 'OK');
  assert.deepEqual(refusals, ['streams-per-principal', 'requests-per-principal', 'bodies']);
});

test('gRPC: a message that does not come in time ends its call', async (t) => {
  const served = await serveGrpc(t, { limits: { bodyTimeoutMs: 5_000 } });
  const call = await openGrpc(t, served.port, 'SendMessage', {});
  const ended = call.ended();
  await until('the call waits for its message', () => served.clock.waiting() > 0);
  served.clock.advance(5_000);
  await until('it is counted', () => served.counts.get('a2a_requests_total'));
  served.clock.advance(2_000);
  assertEnded(await ended, 'INVALID_ARGUMENT', 'BODY_TOO_SLOW');
  assert.deepEqual(served.operations.calls, []);
});

test('gRPC: a client that leaves before its message is whole leaves nothing behind', async (t) => {
  const served = await serveGrpc(t);
  const call = await openGrpc(t, served.port, 'SendMessage', {});
  await until('the call waits for its message', () => served.clock.waiting() > 0);
  call.session.destroy();
  assert.equal(await outcome(served), 'client-gone');
  await until('no timer is left but the last', () => served.clock.waiting() <= 1);
  assert.deepEqual(served.operations.calls, []);
});
