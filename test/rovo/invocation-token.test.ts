import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { isDomainError } from '../../core/errors.ts';
import type { TokenOptions } from '../../simulator/forge/invocation-token.ts';
import { ALICE, createWorld, INSTALLATION, TENANT, type World } from './world.ts';

let world: World;
before(async () => {
  world = await createWorld();
});
after(() => world.close());
beforeEach(() => world.jwks.outage('none'));

async function refusedHeaders(
  headers: Record<string, string | string[]>,
  { edge, log }: Pick<World, 'edge' | 'log'> = world,
): Promise<string> {
  const from = log.length;
  await assert.rejects(edge.authenticate(headers), (error: unknown) => {
    assert.ok(isDomainError(error, 'UNAUTHENTICATED'), String(error));
    assert.equal(error.message, 'Authentication failed');
    return true;
  });
  const line = log.slice(from).find(({ name }) => name === 'rovo.refused');
  assert.equal(line?.error, undefined);
  return String(line?.fields.reason);
}

const refused = async (options: TokenOptions, edge = world.edge) =>
  refusedHeaders(await world.headers(options), { edge, log: world.log });

describe('invocation token: forged and stale ones', () => {
  test('an honest token proves tenant and principal', async () => {
    const { caller, invocation } = await world.edge.authenticate(await world.headers());
    assert.deepEqual(caller, { owner: { tenant: TENANT, principal: ALICE, agent: 'agent' } });
    assert.equal(invocation.apiBaseUrl, INSTALLATION.apiBaseUrl);
    assert.equal(invocation.cloudId, INSTALLATION.cloudId);
    assert.equal(invocation.environmentId, world.app.environmentUuid);
    assert.match(invocation.jti, /^[\da-f]{40}$/);
  });

  const other = 'ari:cloud:ecosystem::app/99999999-2222-4333-8444-555555555555';
  const attacks: readonly (readonly [string, TokenOptions, RegExp])[] = [
    ['no algorithm', { alg: 'none' }, /alg/i],
    ['HS256 with the public key as its secret', { alg: 'HS256' }, /alg/i],
    ['ES256 with a key that the set publishes', { alg: 'ES256' }, /alg/i],
    ['another issuer', { issuer: 'forge/other-token' }, /"iss"/],
    ['the audience of another app', { audience: other }, /"aud"/],
    ['another app as audience and as app.id', { audience: other, claims: { app: { id: other } } }, /"aud"/],
    ['our audience but another app.id', { claims: { app: { id: other } } }, /app\.id/],
    ['an empty audience', { audience: '' }, /"aud"/],
    ['the bare uuid as audience', { audience: other.slice(-36) }, /"aud"/],
    ['an end that has passed', { ageMs: 60_000 }, /"exp"/],
    ['a life without end', { ageMs: 60_000, lifeMs: 1e12 }, /"iat"/],
    ['an issue time in the future', { ageMs: -20_000, claims: { nbf: 0 } }, /"iat"/],
    ['a start in the future', { claims: { nbf: 99_999_999_999 } }, /"nbf"/],
    ['no key id', { kid: null }, /key id/],
    ['a key id that is not published', { kid: 'forge/invocation-token/0' }, /./],
    ['the key id of another key', { kid: 'elliptic' }, /./],
    ...['exp', 'iat', 'nbf', 'iss', 'aud', 'jti'].map(
      (name) => [`no ${name}`, { omit: [name] }, new RegExp(`"${name}"`)] as const,
    ),
    ['no principal', { omit: ['principal'] }, /principal/],
    ['a principal with a line break', { claims: { principal: 'a\nb' } }, /principal/],
    ['no installation', { claims: { app: { installationId: '' } } }, /installation/],
    ['an installation that is none', { claims: { app: { installationId: '../../x' } } }, /installation/],
    ['a jti that is no text', { claims: { jti: 7 } }, /jti/],
  ];
  for (const [what, options, reason] of attacks) {
    test(`${what}: refused`, async () => {
      const kid = options.kid === 'elliptic' ? { kid: world.ring.elliptic.kid } : {};
      assert.match(await refused({ ...options, ...kid }), reason);
    });
  }

  test('a refusal never says why, and its log line holds no token', async () => {
    const headers = await world.headers({ audience: other }, { 'x-b3-traceid': 'ABCDEF0123456789' });
    await refusedHeaders(headers);
    const line = world.log.at(-1);
    assert.equal(line?.fields.trace, 'ABCDEF0123456789');
    assert.ok(!JSON.stringify(line).includes(headers.authorization?.slice(7, 60) ?? '-'));
  });
});

describe('invocation token: a wrong setting is found in the log', () => {
  test('FORGE_APP_ID: both apps are named', async () => {
    const reason = await refused({ audience: 'ari:cloud:ecosystem::app/99999999-2222-4333-8444-555555555555' });
    assert.match(reason, /"ari:cloud:ecosystem::app\/99999999-2222-4333-8444-555555555555"/);
    assert.ok(reason.includes(`"${world.app.ari}"`), reason);
  });

  test('ROVO_API_HOSTS: the host of the token and the allowed ones are named, and no more of the URL', async () => {
    const edge = world.edgeWith({ apiHosts: ['one.example', 'two.example:8443'] });
    const apiBaseUrl = 'https://user:secret@api.elsewhere.example/ex/jira/private';
    const reason = await refused({ claims: { app: { apiBaseUrl } } }, edge);
    assert.match(reason, /"api\.elsewhere\.example"; ROVO_API_HOSTS allows one\.example, two\.example:8443/);
    assert.doesNotMatch(reason, /secret|private/);
  });

  test('ROVO_MODULE_KEYS: the module of the token and the allowed ones are named', async () => {
    const edge = world.edgeWith({ moduleKeys: ['mine'] });
    assert.match(await refused({}, edge), /module "agent-connector"; ROVO_MODULE_KEYS allows mine/);
  });

  test('FORGE_JWKS_URL: the host that does not publish the key is named, and when it is asked again', async () => {
    const own = await createWorld();
    await own.edge.authenticate(await own.headers());
    own.clock.advance(10_000);
    const reason = await refusedHeaders(await own.headers({ kid: 'unknown' }), own);
    assert.equal(reason, `unknown key id: ${new URL(own.jwks.url).host} does not publish it; next fetch in 20 s`);
    await own.close();
  });

  test('each reason is a warning once, also when only the seconds in it differ', async () => {
    const own = await createWorld();
    const levels: string[] = [];
    const refuse = async (options: TokenOptions) => {
      await refusedHeaders(await own.headers(options), own);
      levels.push(own.log.findLast(({ name }) => name === 'rovo.refused')?.level ?? '');
    };
    await own.edge.authenticate(await own.headers());
    await refuse({ kid: 'unknown' });
    own.clock.advance(1_000);
    await refuse({ kid: 'unknown' });
    await refuse({ issuer: 'x' });
    await refuse({ issuer: 'x' });
    assert.deepEqual(levels, ['warn', 'info', 'warn', 'info']);
    await own.close();
  });
});

describe('invocation token: the header', () => {
  test('a missing, empty or foreign header is refused without a look at the keys', async () => {
    const before = world.jwks.requests();
    const { authorization = '' } = await world.headers();
    const token = authorization.slice(7);
    for (const headers of [
      {},
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: 'Bearer ' },
      { authorization: `Basic ${token}` },
      { authorization: token },
      { authorization: `Bearer ${token} x` },
      { authorization: `Bearer ${token}, Bearer ${token}` },
      { authorization: [`Bearer ${token}`, `Bearer ${token}`] },
      { authorization: `Bearer ${'a'.repeat(20_000)}` },
    ] as const) {
      await refusedHeaders(headers as Record<string, string>);
    }
    assert.equal(world.jwks.requests(), before);
  });

  test('the scheme is understood in any case', async () => {
    const { authorization = '' } = await world.headers();
    await world.edge.authenticate({ authorization: authorization.replace('Bearer', 'bearer') });
  });
});

describe('invocation token: key host', () => {
  test('down, with a key that is not known: unavailable, with a time to try again', async () => {
    const own = await createWorld();
    own.jwks.outage('error');
    await assert.rejects(own.edge.authenticate(await own.headers()), (error: unknown) => {
      assert.ok(isDomainError(error, 'AUTHENTICATION_UNAVAILABLE'));
      assert.ok((error.retryAfterMs ?? 0) > 0);
      return true;
    });
    await own.close();
  });

  test('down for an hour, with a known key: tokens are accepted, and expired ones are not', async () => {
    await world.edge.authenticate(await world.headers());
    world.jwks.outage('refuse');
    world.clock.advance(3_600_000);
    await world.edge.authenticate(await world.headers());
    assert.match(await refused({ ageMs: 60_000 }), /"exp"/);
  });
});

describe('invocation token: module and API base', () => {
  test('module keys are checked when they are configured', async () => {
    const edge = world.edgeWith({ moduleKeys: ['agent-connector'] });
    await edge.authenticate(await world.headers());
    const options = { module: { type: 'rovo:agentConnector', key: 'other' } };
    assert.match(await refused(options, edge), /module/);
    await world.edge.authenticate(await world.headers(options));
  });

  test('lifecycle calls may come from any module but one that a browser shows', async () => {
    for (const type of ['core:trigger', 'rovo:agentConnector', 'something:new']) {
      await world.edge.authenticateLifecycle(await world.headers({ module: { type, key: 'x' } }));
    }
    for (const type of ['jira:issuePanel', 'confluence:globalPage', 'JIRA:adminPage']) {
      const headers = await world.headers({ module: { type, key: 'x' } });
      await assert.rejects(world.edge.authenticateLifecycle(headers), (e: unknown) =>
        isDomainError(e, 'UNAUTHENTICATED'),
      );
    }
  });

  test('lifecycle calls need no user', async () => {
    const claims = await world.edge.authenticateLifecycle(await world.headers({ omit: ['principal'] }));
    assert.equal(claims.principal, undefined);
  });

  test('an API base outside the allow-list is refused', async () => {
    const bases = [
      'https://evil.example/ex/jira/1',
      'https://api.atlassian.com.evil.example/',
      'https://api.atlassian.com@evil.example/',
      'https://user:pw@api.atlassian.com/',
      'https://api.atlassian.com:8443/',
      'http://api.atlassian.com/ex/jira/1',
      'https://api.atlassian.com/?x=1',
      'file:///etc/passwd',
      'not a url',
      '',
    ];
    for (const apiBaseUrl of bases) {
      assert.match(await refused({ claims: { app: { apiBaseUrl } } }), /apiBaseUrl/, apiBaseUrl);
    }
  });

  test('a loopback API base may be plain http, when it is allowed', async () => {
    const edge = world.edgeWith({ apiHosts: ['127.0.0.1'] });
    const headers = await world.headers({ claims: { app: { apiBaseUrl: 'http://127.0.0.1:4711/ex/jira/1/' } } });
    const { invocation } = await edge.authenticate(headers);
    assert.equal(invocation.apiBaseUrl, 'http://127.0.0.1:4711/ex/jira/1');
    await refused({}, edge);
  });
});

describe('invocation token: what a new shape may not break', () => {
  test('claims that nobody needs may be missing or of another type', async () => {
    const claims = { context: { siteUrl: 7, cloudId: null }, app: { environment: 'x', version: {}, license: [] } };
    const { invocation } = await world.edge.authenticate(await world.headers({ claims }));
    assert.equal(invocation.siteUrl, undefined);
    assert.equal(invocation.environmentId, undefined);
    await world.edge.authenticate(await world.headers({ omit: ['context'] }));
  });

  test('a site URL that is not safe to link to is left out', async () => {
    for (const siteUrl of ['javascript:alert(1)', 'http://harbor.example', 'https://a:b@harbor.example']) {
      const headers = await world.headers({ claims: { context: { siteUrl } } });
      assert.equal((await world.edge.authenticate(headers)).invocation.siteUrl, undefined, siteUrl);
    }
    const headers = await world.headers({ includeSiteUrl: true });
    assert.equal((await world.edge.authenticate(headers)).invocation.siteUrl, INSTALLATION.siteUrl);
  });

  test('a bare installation id names the same tenant as its ARI', async () => {
    const claims = { app: { installationId: INSTALLATION.id.toUpperCase() } };
    const { caller } = await world.edge.authenticate(await world.headers({ claims }));
    assert.equal(caller.owner.tenant, TENANT);
  });
});
