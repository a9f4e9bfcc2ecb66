import { Buffer } from 'node:buffer';
import { KeyObject, verify, type webcrypto } from 'node:crypto';
import { type CryptoKey, errors, type JWTHeaderParameters } from 'jose';

/*
 * The signature of a token of RS256 and its kin, checked where it stands. jose asks WebCrypto, which hands each signature
 * to another thread and back: 50 µs of the event loop for a check of 21, and requests that came together come back one by
 * one, so that the store has smaller groups to commit. What is not known for sure here is left to jose, faults included.
 */

export interface RsaToken {
  readonly header: JWTHeaderParameters;
  /** As it came, base64url. */
  readonly payload: string;
  /** What was signed. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;
/** By the hash of a key, which is imported for one algorithm only. */
const DIGESTS: Readonly<Record<string, string>> = { RS256: 'SHA-256', RS384: 'SHA-384', RS512: 'SHA-512' };
/** RFC 7518, 3.3. */
const MIN_MODULUS_BITS = 2_048;

/** Made once for each key: the same one is given out for every token. */
const keyObjects = new WeakMap<CryptoKey, KeyObject>();

/** Undefined: a token that jose has to look at. */
export function readRsaToken(token: string, algorithms: readonly string[]): RsaToken | undefined {
  const [, head, payload, signature] = COMPACT.exec(token) ?? [];
  if (head === undefined || payload === undefined || signature === undefined) return undefined;
  const header = headerOf(head);
  if (header === undefined || !algorithms.includes(header.alg)) return undefined;
  return {
    header,
    payload,
    signed: Buffer.from(token.slice(0, head.length + 1 + payload.length), 'latin1'),
    signature: Buffer.from(signature, 'base64url'),
  };
}

/** False: it was not looked at, because the key is not one for it. Throws jose's JWSSignatureVerificationFailed. */
export function checkRsaSignature({ header, signed, signature }: RsaToken, key: CryptoKey): boolean {
  if (!isFor(header.alg, key)) return false;
  let rsaKey = keyObjects.get(key);
  if (rsaKey === undefined) {
    rsaKey = KeyObject.from(key);
    keyObjects.set(key, rsaKey);
  }
  if (!verify(DIGESTS[header.alg], signed, rsaKey, signature)) throw new errors.JWSSignatureVerificationFailed();
  return true;
}

/** Only of a plain header: one that names extensions, or another algorithm, is not read here. */
function headerOf(encoded: string): JWTHeaderParameters | undefined {
  let header: unknown;
  try {
    header = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof header !== 'object' || header === null || 'crit' in header || 'b64' in header) return undefined;
  if (!('alg' in header) || typeof header.alg !== 'string' || !Object.hasOwn(DIGESTS, header.alg)) return undefined;
  return { ...header, alg: header.alg };
}

function isFor(algorithm: string, key: CryptoKey): boolean {
  const { name, hash, modulusLength = 0 }: Partial<webcrypto.RsaHashedKeyAlgorithm> = key.algorithm;
  return (
    name === 'RSASSA-PKCS1-v1_5' &&
    hash?.name === DIGESTS[algorithm] &&
    modulusLength >= MIN_MODULUS_BITS &&
    key.usages.includes('verify')
  );
}
