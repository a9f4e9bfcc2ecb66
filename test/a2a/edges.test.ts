import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { createAnonymousEdge } from '../../adapters/a2a/anonymous-edge.ts';
import { createJwtEdge } from '../../adapters/a2a/jwt-edge.ts';
import { DomainError, isDomainError } from '../../core/errors.ts';
import { openRaw, whole } from './raw-socket.ts';
import { assertRefused, call, rpc, send } from './rpc.ts';
import { PROFILE, serve } from './serve.ts';

const COMMON = { profile: PROFILE, versions: ['1.0'], streaming: true, agent: 'agent', deadlineMs: 86_400_000 };
const anonymous = createAnonymousEdge(COMMON);

const LOCAL: readonly IncomingHttpHeaders[] = [
  { host: 'localhost' },
  { host: 'LOCALHOST:8080' },
  { host: '127.0.0.1:1' },
  { host: '127.9.9.9' },
  { host: '[::1]:8080' },
];
for (const headers of LOCAL) {
  test(`anonymous edge: Host ${headers.host} is this machine`, async () => {
    const session = await anonymous.authenticate(headers, { address: '127.0.0.1' });
    assert.deepEqual(session.caller, {
      owner: { tenant: 'anonymous', principal: 'anonymous', agent: 'agent' },
    });
    assert.deepEqual(session.prepare({ method: 'GetTask', params: { id: 't' } }), {
      params: { id: 't' },
      deadlineMs: 86_400_000,
    });
  });
}

const FROM_ELSEWHERE: readonly IncomingHttpHeaders[] = [
  {},
  { host: '' },
  { host: 'evil.example' },
  { host: 'localhost.evil.example' },
  { host: '127.0.0.1.evil.example' },
  { host: 'evil.example:127.0.0.1' },
  { host: 'localhost@evil.example' },
  { host: '10.0.0.1' },
  { host: '0.0.0.0' },
  { host: 'localhost', forwarded: 'for=1.2.3.4' },
  { host: 'localhost', 'x-forwarded-for': '127.0.0.1' },
  { host: 'localhost', 'x-forwarded-proto': 'https' },
  { host: 'localhost', 'x-forwarded-host': '' },
  { host: 'localhost', 'cf-connecting-ip': '1.2.3.4' },
  { host: 'localhost', 'x-real-ip': '1.2.3.4' },
  { host: 'localhost', 'true-client-ip': '1.2.3.4' },
];
for (const headers of FROM_ELSEWHERE) {
  test(`anonymous edge: ${JSON.stringify(headers)} is refused`, async () => {
    await assert.rejects(anonymous.authenticate(headers, { address: '127.0.0.1' }), (error) =>
      isDomainError(error, 'FORBIDDEN'),
    );
  });
}

test('anonymous edge: a peer that is not this machine is refused whatever its headers say', async () => {
  const headers = { host: 'localhost' };
  for (const address of ['10.0.0.7', '::ffff:10.0.0.7', 'fe80::1']) {
    await assert.rejects(anonymous.authenticate(headers, { address }), (error) => isDomainError(error, 'FORBIDDEN'));
  }
  for (const address of ['::1', '::ffff:127.0.0.1']) assert.ok(await anonymous.authenticate(headers, { address }));
});

test('anonymous edge: over HTTP a tunnel gets 403 and JSON, the machine itself an answer', async (t) => {
  const served = await serve(t, { edge: anonymous });
  const tunnel = await call(served, 'GetTask', { id: 't1' }, { headers: { 'X-Forwarded-For': '1.2.3.4' } });
  assert.equal(tunnel.status, 403);
  assert.equal(tunnel.json.error.data[0].reason, 'FORBIDDEN');
  assert.deepEqual(served.operations.calls, []);
  const foreign = await openRaw(t, served.port);
  foreign.socket.write(whole(rpc('GetTask', { id: 't1' })).replace('Host: 127.0.0.1', 'Host: evil.example'));
  assert.match(await foreign.until(/\}$/), /^HTTP\/1\.1 403 /);
  assert.ok((await call(served, 'GetTask', { id: 't1' })).json.result);
});

function jwtEdge(verify: (token: string) => Promise<Record<string, unknown>>, tenantClaim?: string) {
  const issuer = 'https://issuer.test';
  return createJwtEdge({ ...COMMON, verify, issuer, ...(tenantClaim === undefined ? {} : { tenantClaim }) });
}

test('jwt edge: the owner is made of the issuer, the tenant claim and the subject', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const edge = jwtEdge(async (token) => ({ sub: `user of ${token}`, org: 't1' }), 'org');
  const session = await edge.authenticate({ authorization: 'bearer abc.DEF-_~+/.==', traceparent }, {});
  assert.deepEqual(session.caller, {
    owner: { tenant: 'jwt:https://issuer.test:t1', principal: 'user of abc.DEF-_~+/.==', agent: 'agent' },
    trace: traceparent,
  });
  assert.equal(session.tenant, 't1');
});

test('jwt edge: without a tenant claim every caller of the issuer is in one tenant', async () => {
  const session = await jwtEdge(async () => ({ sub: 'a' })).authenticate({ authorization: 'Bearer x' }, {});
  assert.equal(session.caller.owner.tenant, 'jwt:https://issuer.test:');
  assert.equal(session.tenant, undefined);
});

for (const authorization of [
  undefined,
  '',
  'Bearer',
  'Bearer ',
  'Basic YTpi',
  'x',
  'Bearer a b',
  'Bearer a, Bearer b',
  'Bearer ä',
]) {
  test(`jwt edge: Authorization ${JSON.stringify(authorization)} is refused before anything is verified`, async () => {
    const edge = jwtEdge(() => assert.fail('was verified'));
    await assert.rejects(edge.authenticate({ authorization }, {}), (error) => isDomainError(error, 'UNAUTHENTICATED'));
  });
}

const CLAIMS: readonly Record<string, unknown>[] = [
  { org: 't1' },
  { sub: '', org: 't1' },
  { sub: ' ', org: 't1' },
  { sub: 5, org: 't1' },
  { sub: 'a\0', org: 't1' },
  { sub: 'x'.repeat(257), org: 't1' },
  { sub: 'a' },
  { sub: 'a', org: '' },
  { sub: 'a', org: ['t1'] },
];
for (const claims of CLAIMS) {
  test(`jwt edge: claims ${JSON.stringify(claims).slice(0, 40)} name nobody`, async () => {
    const edge = jwtEdge(async () => claims, 'org');
    await assert.rejects(edge.authenticate({ authorization: 'Bearer x' }, {}), (error) =>
      isDomainError(error, 'UNAUTHENTICATED'),
    );
  });
}

test('jwt edge: what verification says is passed on, and any other fault of it is a refusal', async () => {
  const unavailable = new DomainError('AUTHENTICATION_UNAVAILABLE', 'no keys');
  const ask = (error: unknown) => jwtEdge(() => Promise.reject(error)).authenticate({ authorization: 'Bearer x' }, {});
  await assert.rejects(ask(unavailable), unavailable);
  const fault = new Error('"exp" claim timestamp check failed');
  await assert.rejects(ask(fault), (error) => isDomainError(error, 'UNAUTHENTICATED') && error.cause === fault);
});

test('jwt edge: over HTTP a call without a token gets 401, a challenge and JSON', async (t) => {
  const served = await serve(t, { edge: jwtEdge(async () => ({ sub: 'alice' })) });
  const without = await call(served, 'SendMessage', send());
  assert.equal(without.status, 401);
  assert.equal(without.headers.get('www-authenticate'), 'Bearer realm="test"');
  assert.equal(without.json.error.data[0].reason, 'UNAUTHENTICATED');
  assert.deepEqual(served.operations.calls, []);
  const headers = { Authorization: 'Bearer x' };
  assert.ok((await call(served, 'SendMessage', send(), { headers })).json.result);
  assertRefused(await call(served, 'SendMessage', send({}, { tenant: 't2' }), { headers }), -32602);
});
