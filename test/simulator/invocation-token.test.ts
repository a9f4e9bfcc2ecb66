import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import { type Atlassian, startAtlassian } from '../../simulator/atlassian.ts';

describe('invocation token', () => {
  let atlassian: Atlassian;
  before(async () => {
    atlassian = await startAtlassian();
  });
  after(() => atlassian.close());

  const verify = async (token: string) => {
    const keys = createRemoteJWKSet(new URL(atlassian.jwksUrl), { headers: { connection: 'close' } });
    return (await jwtVerify(token, keys, { audience: atlassian.app.ari, algorithms: ['RS256'] })).payload;
  };

  it('carries the claims of a captured one, lives 25 s and is never the same twice', async () => {
    const claims = await verify(await atlassian.mint({ as: 'bob' }));
    const { exp = 0, iat = 0, nbf = 0, jti = '' } = claims;
    assert.deepEqual([exp - iat, iat - nbf], [25, 30]);
    assert.match(jti, /^[0-9a-f]{40}$/);
    assert.notEqual(decodeJwt(await atlassian.mint()).jti, jti);
    const { id } = atlassian.site.installation();
    assert.equal(claims.principal, atlassian.site.records.person('bob').accountId);
    assert.deepEqual((claims.app as Record<string, unknown>).installationId, `ari:cloud:ecosystem::installation/${id}`);
    assert.equal((claims.app as Record<string, unknown>).apiBaseUrl, atlassian.apiBaseUrl);
    assert.equal((claims.context as Record<string, unknown>).cloudId, atlassian.site.cloudId);
  });

  it('names the other site for a call from there', async () => {
    const claims = decodeJwt(await atlassian.mint({ site: 'harbor' }));
    assert.equal((claims.context as Record<string, unknown>).cloudId, atlassian.sites.harbor.cloudId);
  });

  it('is bad in exactly the way that was asked for', async () => {
    const decoded = async (options: Parameters<Atlassian['mint']>[0]) => {
      const token = await atlassian.mint(options);
      return { ...decodeProtectedHeader(token), ...decodeJwt(token) };
    };
    const now = Math.floor(Date.now() / 1000);
    assert.ok(((await decoded({ ageMs: 60_000 })).exp ?? now) < now);
    assert.ok(((await decoded({ ageMs: -120_000 })).iat ?? now) > now);
    assert.equal((await decoded({ kid: 'nobody' })).kid, 'nobody');
    assert.equal('kid' in (await decoded({ kid: null })), false);
    assert.equal((await decoded({ issuer: 'x' })).iss, 'x');
    assert.equal('jti' in (await decoded({ omit: ['jti'] })), false);
    for (const alg of ['none', 'HS256', 'ES256'] as const) assert.equal((await decoded({ alg })).alg, alg);
    assert.equal((await atlassian.mint({ alg: 'none' })).endsWith('.'), true);
  });

  it('is signed with the newest key after a rotation, older keys stay until they are removed', async () => {
    const before = await atlassian.mint();
    const old = decodeProtectedHeader(before).kid ?? '';
    const kid = await atlassian.rotateKeys();
    assert.equal(decodeProtectedHeader(await atlassian.mint()).kid, kid);
    await verify(before);
    atlassian.keyRing.remove(old);
    await assert.rejects(verify(before), errors.JWKSNoMatchingKey);
    assert.throws(() => atlassian.keyRing.remove(kid), /rotate first/);
  });

  it('cannot be verified while the key set is down, and requests are counted', async () => {
    const requests = atlassian.jwksRequests();
    for (const kind of ['error', 'refuse'] as const) {
      atlassian.outage(kind);
      await assert.rejects(verify(await atlassian.mint()));
    }
    atlassian.outage('none');
    await verify(await atlassian.mint());
    assert.equal(atlassian.jwksRequests(), requests + 3);
  });
});
