import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SignJWT } from 'jose';
import { createKeySet, type KeySet } from '../../adapters/jwks/key-set.ts';
import { createTokenVerifier, type TokenRules } from '../../adapters/jwks/token-verifier.ts';
import { isDomainError } from '../../core/errors.ts';
import { type JwksEndpoint, startJwksEndpoint } from '../../simulator/forge/jwks-endpoint.ts';
import { createKeyRing, type KeyRing } from '../../simulator/forge/key-ring.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { createMovedClock } from './moved-clock.ts';

const RULES: TokenRules = {
  algorithms: ['RS256', 'ES256'],
  issuer: 'https://issuer.example',
  audience: 'connector',
  requiredClaims: ['exp', 'sub'],
  clockToleranceSeconds: 5,
};
const clock = createMovedClock();
let ring: KeyRing;
let host: JwksEndpoint;
let keySet: KeySet;

before(async () => {
  ring = await createKeyRing();
  host = await startJwksEndpoint(ring);
  keySet = createKeySet({ url: host.url, clock, telemetry: silentTelemetry });
});
after(async () => {
  keySet.close();
  await host.close();
});

const seconds = () => Math.floor(clock.now() / 1000);

async function mint(claims: Record<string, unknown> = {}, key = ring.current(), alg = 'RS256'): Promise<string> {
  const now = seconds();
  const honest = { iss: RULES.issuer, aud: RULES.audience, sub: 'alice', iat: now, exp: now + 60 };
  return new SignJWT({ ...honest, ...claims }).setProtectedHeader({ alg, kid: key.kid }).sign(key.privateKey);
}

async function refused(token: string, rules: Partial<TokenRules> = {}): Promise<void> {
  const verify = createTokenVerifier({ ...RULES, ...rules, keySet, clock });
  await assert.rejects(verify(token), (error: unknown) => {
    assert.ok(isDomainError(error, 'UNAUTHENTICATED'), String(error));
    assert.equal(error.message, 'Authentication failed');
    assert.ok(error.cause instanceof Error && !('payload' in error.cause));
    return true;
  });
}

describe('token verifier', () => {
  test('an honest token answers its claims, with every allowed algorithm', async () => {
    const verify = createTokenVerifier({ ...RULES, keySet, clock });
    assert.equal((await verify(await mint())).sub, 'alice');
    assert.equal((await verify(await mint({}, ring.elliptic, 'ES256'))).sub, 'alice');
  });

  test('a token of another issuer, for another audience or without a required claim is refused', async () => {
    await refused(await mint({ iss: 'https://other.example' }));
    await refused(await mint({ aud: 'other' }));
    await refused(await mint({ aud: [] }));
    await refused(await mint({ sub: undefined }));
    await refused(await mint({ exp: undefined }));
  });

  test('time is the clock port, with the tolerance on both sides', async () => {
    const verify = createTokenVerifier({ ...RULES, keySet, clock });
    const token = await mint();
    clock.advance(63_000);
    await verify(token);
    clock.advance(3_000);
    await refused(token);
    await verify(await mint({ nbf: seconds() + 3 }));
    await refused(await mint({ nbf: seconds() + 8 }));
  });

  test('a token from the future is refused, also without a limit on its age', async () => {
    await refused(await mint({ iat: seconds() + 8 }));
    await refused(await mint({ iat: 'now' }));
  });

  test('a token above the age limit is refused although it has not expired', async () => {
    const old = await mint({ iat: seconds() - 120, exp: seconds() + 3_600 });
    await createTokenVerifier({ ...RULES, keySet, clock })(old);
    await refused(old, { maxTokenAgeSeconds: 60 });
  });

  test('a signature by another published key, a cut token and no token at all are refused', async () => {
    const { kid } = await ring.add();
    const token = await new SignJWT({}).setProtectedHeader({ alg: 'RS256', kid }).sign(ring.current().privateKey);
    await refused(token);
    await refused((await mint()).slice(0, -4));
    await refused('');
    await refused('a.b.c');
  });

  test('an outage of the key host is not taken for a bad token', async () => {
    const down = await startJwksEndpoint(ring);
    down.outage('error');
    const keys = createKeySet({ url: down.url, clock, telemetry: silentTelemetry });
    const verify = createTokenVerifier({ ...RULES, keySet: keys, clock });
    await assert.rejects(verify(await mint()), (error: unknown) => isDomainError(error, 'AUTHENTICATION_UNAVAILABLE'));
    keys.close();
    await down.close();
  });

  test('rules that let everybody in are refused when it is made', () => {
    for (const rules of [
      { audience: '' },
      { issuer: ' ' },
      { algorithms: [] },
      { algorithms: ['RS256', 'HS256'] },
      { algorithms: ['none'] },
    ]) {
      assert.throws(() => createTokenVerifier({ ...RULES, ...rules, keySet, clock }), TypeError);
    }
  });
});
