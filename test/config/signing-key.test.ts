import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { test } from 'node:test';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { ConfigError, loadConfig } from '../../src/config.ts';

const A2A = { A2A_AUTH: 'anonymous' };

function jwkOf(key: KeyObject, changes: object = {}): string {
  return JSON.stringify({ ...key.export({ format: 'jwk' }), ...changes });
}

function signingKeyOf(text: string) {
  return loadConfig({ ...A2A, A2A_CARD_SIGNING_KEY: text }).a2a?.signingKey;
}

const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const RSA = generateKeyPairSync('rsa', { modulusLength: 2_048 });

const USABLE: readonly (readonly [string, string, string])[] = [
  ['P-256', jwkOf(EC.privateKey), 'ES256'],
  ['P-384', jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey), 'ES384'],
  ['P-521', jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey), 'ES512'],
  ['Ed25519', jwkOf(generateKeyPairSync('ed25519').privateKey), 'EdDSA'],
  ['RSA', jwkOf(RSA.privateKey), 'RS256'],
  ['RSA for PS512', jwkOf(RSA.privateKey, { alg: 'PS512' }), 'PS512'],
];
for (const [name, text, alg] of USABLE) {
  test(`signing key: ${name} signs with ${alg}`, () => {
    const key = signingKeyOf(text);
    assert.deepEqual([key?.alg, key?.key.type], [alg, 'private']);
  });
}

test('signing key: it is named by itself, else by the thumbprint of its public half', async () => {
  assert.equal(signingKeyOf(jwkOf(EC.privateKey, { kid: 'harbor-1' }))?.kid, 'harbor-1');
  for (const { privateKey, publicKey } of [EC, RSA]) {
    const thumbprint = await calculateJwkThumbprint(publicKey.export({ format: 'jwk' }) as JWK);
    assert.equal(signingKeyOf(jwkOf(privateKey, { use: 'sig' }))?.kid, thumbprint);
  }
});

const UNUSABLE: readonly (readonly [string, string])[] = [
  ['no JSON', 'harbor'],
  ['a public key', jwkOf(EC.publicKey)],
  ['a shared secret', '{"kty":"oct","k":"c2VjcmV0"}'],
  ['RSA of 1024 bits', jwkOf(generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey)],
  ['a key for another algorithm', jwkOf(EC.privateKey, { alg: 'ES384' })],
  ['a key for encryption', jwkOf(RSA.privateKey, { alg: 'RSA-OAEP' })],
  ['secp256k1', jwkOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey)],
  ['X25519', jwkOf(generateKeyPairSync('x25519').privateKey)],
  ['a name that is no text', jwkOf(EC.privateKey, { kid: 5 })],
];
for (const [name, text] of UNUSABLE) {
  test(`signing key: ${name} is refused, and not shown`, () => {
    assert.throws(
      () => signingKeyOf(text),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.deepEqual(
          error.problems.map(({ key, found }) => [key, found]),
          [['A2A_CARD_SIGNING_KEY', 'a value that is not shown']],
        );
        return true;
      },
    );
  });
}
