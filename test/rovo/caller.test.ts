import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Edge } from '../../adapters/a2a/edge.ts';
import { isDomainError } from '../../core/errors.ts';
import { ALICE, createWorld, INSTALLATION, TENANT, type World } from './world.ts';

const HOUR_MS = 3_600_000;
let world: World;
before(async () => {
  world = await createWorld();
});
after(() => world.close());

async function userToken(value: string) {
  const headers = await world.headers({}, { 'x-forge-oauth-user': value });
  return (await world.edge.authenticate(headers)).caller.userToken;
}

/** An unsigned token: nothing but its `exp` is read. */
const opaque = (claims: object) =>
  ['{"alg":"RS256"}', JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
const inSeconds = (ms: number) => Math.floor((world.clock.now() + ms) / 1000);

describe('caller: the user token', () => {
  test('its own end is kept', async () => {
    const exp = inSeconds(HOUR_MS);
    const token = opaque({ exp });
    assert.deepEqual(await userToken(token), { token, expiresAt: exp * 1000 });
  });

  test('an end after four hours is cut, and a token that does not decode gets four hours', async () => {
    for (const token of [
      opaque({ exp: inSeconds(9 * HOUR_MS) }),
      'opaque-token',
      opaque({ exp: 'soon' }),
      opaque({}),
    ]) {
      const before = world.clock.now() + 4 * HOUR_MS;
      const { expiresAt = 0 } = (await userToken(token)) ?? {};
      assert.ok(expiresAt >= before && expiresAt <= world.clock.now() + 4 * HOUR_MS, token);
    }
  });

  test('one that has expired, is doubled, empty or malformed counts as none', async () => {
    const good = opaque({ exp: inSeconds(HOUR_MS) });
    for (const value of [opaque({ exp: inSeconds(-1_000) }), `${good}, ${good}`, '', 'a b', 'x'.repeat(40_000), 'ä']) {
      assert.equal(await userToken(value), undefined, value.slice(0, 20));
    }
  });

  test('it is never logged', async () => {
    const token = opaque({ exp: inSeconds(HOUR_MS) });
    await userToken(token);
    assert.ok(!JSON.stringify(world.log).includes(token));
  });
});

describe('caller: trace', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  for (const [headers, expected] of [
    [{ traceparent, 'x-b3-traceid': '463ac35c9f6413ad48485a3953bb6124' }, traceparent],
    [{ 'x-b3-traceid': '463ac35c9f6413ad48485a3953bb6124' }, '463ac35c9f6413ad48485a3953bb6124'],
    [{ traceparent: 'x\ny', 'x-b3-traceid': 'a48485a3953bb612' }, 'a48485a3953bb612'],
    [{ traceparent: '00-00000000000000000000000000000000-b7ad6b7169203331-01' }, undefined],
    [{ 'x-b3-traceid': 'no trace' }, undefined],
  ] as const) {
    test(`${JSON.stringify(headers)} is ${expected}`, async () => {
      const { caller } = await world.edge.authenticate(await world.headers({}, headers));
      assert.equal(caller.trace, expected);
    });
  }

  test('without a trace context that id is the trace, named once', async () => {
    await world.edge.authenticate(await world.headers({}, { 'x-b3-traceid': '463ac35c9f6413ad' }));
    const line = world.log.findLast(({ name }) => name === 'rovo.authenticated');
    assert.deepEqual([line?.fields.trace, line?.fields.b3TraceId], ['463ac35c9f6413ad', undefined]);
  });

  test('the id that support asks for is logged beside a trace context', async () => {
    const headers = { traceparent, 'x-b3-traceid': '463ac35c9f6413ad' };
    await world.edge.authenticate(await world.headers({}, headers));
    const line = world.log.findLast(({ name }) => name === 'rovo.authenticated');
    assert.equal(line?.fields.b3TraceId, '463ac35c9f6413ad');
    assert.equal(line?.fields.trace, traceparent);
  });
});

describe('caller: its installation', () => {
  test('the first call registers it, the next writes nothing, and news are merged', async () => {
    const own = await createWorld();
    await own.edge.authenticate(await own.headers());
    const attributes = {
      appId: own.app.uuid,
      cloudId: INSTALLATION.cloudId,
      apiBaseUrl: INSTALLATION.apiBaseUrl,
      environmentId: own.app.environmentUuid,
    };
    assert.deepEqual((await own.tenants.get(TENANT))?.attributes, attributes);
    assert.equal(own.writes(), 1);
    await own.edge.authenticate(await own.headers());
    assert.equal(own.writes(), 1);
    await own.edge.authenticate(await own.headers({ includeSiteUrl: true }));
    await own.edge.authenticate(await own.headers());
    assert.equal(own.writes(), 2);
    assert.deepEqual((await own.tenants.get(TENANT))?.attributes, { ...attributes, siteUrl: INSTALLATION.siteUrl });
    await own.close();
  });

  test('calls of a removed one are refused for ten minutes, then it comes back', async () => {
    const own = await createWorld();
    await own.edge.authenticate(await own.headers({ includeSiteUrl: true }));
    await own.tenants.remove(TENANT);
    const refuse = async () =>
      assert.rejects(own.edge.authenticate(await own.headers()), (e: unknown) => isDomainError(e, 'UNAUTHENTICATED'));
    await refuse();
    own.clock.advance(590_000);
    await refuse();
    assert.equal((await own.tenants.get(TENANT))?.status, 'removed');
    own.clock.advance(10_000);
    await own.edge.authenticate(await own.headers());
    const tenant = await own.tenants.get(TENANT);
    assert.equal(tenant?.status, 'active');
    assert.equal(tenant?.attributes.siteUrl, undefined);
    await own.close();
  });

  test('two installations of one app are two tenants', async () => {
    const installationId = 'ari:cloud:ecosystem::installation/bbbbbbbb-bbbb-4ccc-8ddd-eeeeeeeeeeee';
    const { caller } = await world.edge.authenticate(await world.headers({ claims: { app: { installationId } } }));
    assert.deepEqual(caller.owner, {
      tenant: 'rovo:bbbbbbbb-bbbb-4ccc-8ddd-eeeeeeeeeeee',
      principal: ALICE,
      agent: 'agent',
    });
  });
});

test('edge: it fits the endpoint', async () => {
  const edge: Edge = world.edge;
  const { caller, prepare } = await edge.authenticate(await world.headers(), {});
  assert.equal(caller.owner.tenant, TENANT);
  assert.deepEqual(prepare({ method: 'GetTask', params: { taskId: 't' } }).params, { id: 't' });
});

test('edge profile: waits end before the client gives up', () => {
  const { profile } = world.edgeWith({ waitMs: 60_000 });
  assert.equal(profile.waitMs, 50_000);
  assert.equal(world.edge.profile.waitMs, 10_000);
  assert.equal(world.edge.defaultVersion, '1.0');
});
