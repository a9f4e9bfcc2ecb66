import { createHash, createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';

/** A private key for signatures that others verify. */
export interface SigningKey {
  /** Its own, or the thumbprint of its public half (RFC 7638). */
  readonly kid: string;
  /** JWA name of the algorithm. */
  readonly alg: string;
  readonly key: KeyObject;
}

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };
const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const MIN_RSA_BITS = 2_048;
/** Members that a thumbprint is made of, in its order. */
const THUMBPRINT = ['crv', 'e', 'kty', 'n', 'x', 'y'];

/** A private JWK as one line of JSON: RSA of 2048 bits or more, P-256, P-384, P-521 or Ed25519. */
export function signingKey() {
  return z.string().transform((text, context): SigningKey => {
    const key = read(text);
    if (key !== undefined) return key;
    const message = 'a private JWK as one line of JSON (RSA of 2048 bits or more, P-256, P-384, P-521 or Ed25519)';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

function read(text: string): SigningKey | undefined {
  try {
    const jwk = JSON.parse(text) as JsonWebKey & { readonly kid?: unknown; readonly alg?: unknown };
    const key = createPrivateKey({ key: jwk, format: 'jwk' });
    const alg = algorithmOf(key, jwk.alg);
    const kid = jwk.kid ?? thumbprint(key);
    return alg !== undefined && typeof kid === 'string' && kid !== '' ? { kid, alg, key } : undefined;
  } catch {
    return undefined;
  }
}

/** What the key is for; undefined when it says that it is for something else. */
function algorithmOf(key: KeyObject, said: unknown): string | undefined {
  const { namedCurve = '', modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') {
    if (modulusLength < MIN_RSA_BITS) return undefined;
    return RSA.find((alg) => alg === (said ?? 'RS256'));
  }
  const alg = key.asymmetricKeyType === 'ed25519' ? 'EdDSA' : CURVES[namedCurve];
  return said === undefined || said === alg ? alg : undefined;
}

function thumbprint(key: KeyObject): string {
  const jwk = createPublicKey(key).export({ format: 'jwk' }) as Readonly<Record<string, unknown>>;
  const members = Object.fromEntries(THUMBPRINT.filter((name) => name in jwk).map((name) => [name, jwk[name]]));
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url');
}
