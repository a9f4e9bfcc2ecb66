import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CryptoKey, errors, exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from 'jose';
import { checkRsaSignature, readRsaToken } from '../../adapters/jwks/rsa-signature.ts';

/* What is checked here has to come out as jose would have it, and what is not has to be left to jose. */

const ALGORITHMS = ['RS256', 'RS384', 'RS512'];
const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
const jwk = await exportJWK(publicKey);
const signedWith = (header: { readonly alg: string; readonly [name: string]: unknown }, key: CryptoKey = privateKey) =>
  new SignJWT({ sub: 'alice' }).setProtectedHeader(header).sign(key);

/** `checked`, `left` to jose, or the code of the error. */
function here(token: string, key: CryptoKey = publicKey, algorithms: readonly string[] = ALGORITHMS): string {
  const read = readRsaToken(token, algorithms);
  if (read === undefined) return 'left';
  try {
    return checkRsaSignature(read, key) ? 'checked' : 'left';
  } catch (error) {
    return error instanceof errors.JOSEError ? error.code : String(error);
  }
}

async function byJose(token: string): Promise<string> {
  return jwtVerify(token, publicKey, { algorithms: ALGORITHMS }).then(
    () => 'checked',
    (error: unknown) => (error instanceof errors.JOSEError ? error.code : String(error)),
  );
}

test('RSA signature: of every size of hash it is checked, and with no other key', async () => {
  for (const alg of ALGORITHMS) {
    const pair = await generateKeyPair(alg);
    const token = await signedWith({ alg, kid: 'a' }, pair.privateKey);
    assert.equal(here(token, pair.publicKey), 'checked');
    const other = await generateKeyPair(alg);
    assert.equal(here(token, other.publicKey), 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED');
  }
});

test('RSA signature: a token that was changed anywhere is refused as jose refuses it', async () => {
  const token = await signedWith({ alg: 'RS256', kid: 'a' });
  const [header = '', payload = '', signature = ''] = token.split('.');
  const changed = [
    [Buffer.from('{"alg":"RS256","kid":"b"}').toString('base64url'), payload, signature],
    [header, Buffer.from('{"sub":"mallory"}').toString('base64url'), signature],
    [header, payload, signature.slice(0, -4)],
    [header, payload, `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`],
    [header, payload, 'AA'],
  ].map((parts) => parts.join('.'));
  for (const each of changed) {
    assert.equal(here(each), 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED');
    assert.equal(await byJose(each), here(each));
  }
  assert.equal(here(token), 'checked');
});

test('RSA signature: a header that allows for more than a signature is left to jose', async () => {
  const { privateKey: elliptic } = await generateKeyPair('ES256');
  const [, payload, signature] = (await signedWith({ alg: 'RS256' })).split('.');
  const headed = (header: object | string) =>
    `${Buffer.from(typeof header === 'string' ? header : JSON.stringify(header)).toString('base64url')}.${payload}.${signature}`;
  for (const token of [
    headed({ alg: 'none' }),
    headed({ alg: 'HS256' }),
    headed({ alg: 'toString' }),
    headed({ alg: ['RS256'] }),
    headed({ alg: 'RS256', crit: ['exp'] }),
    headed({ alg: 'RS256', b64: false, crit: ['b64'] }),
    headed({ kid: 'a' }),
    headed('null'),
    headed('["RS256"]'),
    headed('{"alg":"RS256"'),
    `${headed({ alg: 'RS256' })}.`,
    headed({ alg: 'RS256' }).replace('.', '=.'),
    `${payload}.${signature}`,
    await signedWith({ alg: 'ES256' }, elliptic),
    '',
    '..',
  ]) {
    assert.equal(here(token), 'left', token);
    assert.notEqual(await byJose(token), 'checked', token);
  }
  assert.equal(here(await signedWith({ alg: 'RS256' }), publicKey, ['ES256']), 'left');
});

test('RSA signature: a key of another algorithm or for another purpose is left to jose', async () => {
  const token = await signedWith({ alg: 'RS256' });
  for (const alg of ['RS512', 'PS256', 'RSA-OAEP']) {
    const other = await importJWK(jwk, alg);
    assert.ok(!(other instanceof Uint8Array));
    assert.equal(here(token, other), 'left', alg);
  }
  const { publicKey: elliptic } = await generateKeyPair('ES256');
  assert.equal(here(token, elliptic), 'left');
  const short = await crypto.subtle.generateKey(
    { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 1_024, publicExponent: new Uint8Array([1, 0, 1]) },
    true,
    ['sign', 'verify'],
  );
  assert.equal(here(token, short.publicKey), 'left');
});
