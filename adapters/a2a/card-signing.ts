import { Buffer } from 'node:buffer';
import { constants, createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { Json, JsonObject } from '../../core/message.ts';

/*
 * Signed agent cards (A2A 1.0, 8.4): a detached JWS over the card in JCS form (RFC 8785). What SDKs drop before they
 * verify (empty values) a card of ours does not have, so that their form and the one of 8.4.1 are the same bytes.
 */

export interface SigningKey {
  readonly kid: string;
  /** JWA name: RS*, PS*, ES* with 256, 384 or 512, or EdDSA. */
  readonly alg: string;
  /** A private key that fits `alg`. */
  readonly key: KeyObject;
}

export interface CardSigner {
  /** The card with one signature in place of any that it had. */
  sign(card: JsonObject): JsonObject;
  /** The public half, as a JWK set. */
  readonly keySet: JsonObject;
}

/** RSA-PSS with a salt as long as the hash (RFC 7518, 3.5). */
const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

/** `keySetUrl`: where `keySet` is to be had. */
export function createCardSigner({ kid, alg, key }: SigningKey, keySetUrl: string): CardSigner {
  const header = base64url(canonicalJson({ alg, typ: 'JOSE', kid, jku: keySetUrl }));
  const publicKey = createPublicKey(key).export({ format: 'jwk' }) as JsonObject;
  return {
    keySet: { keys: [{ ...publicKey, kid, alg, use: 'sig' }] },
    sign: ({ signatures: _, ...card }) => {
      const signature = signed(alg, key, `${header}.${base64url(canonicalJson(card))}`);
      return { ...card, signatures: [{ protected: header, signature }] };
    },
  };
}

function signed(alg: string, key: KeyObject, input: string): string {
  const hash = alg === 'EdDSA' ? undefined : `sha${alg.slice(2)}`;
  const padding = alg.startsWith('PS') ? PSS : {};
  // A JWS holds r and s side by side, where OpenSSL would wrap them in DER.
  return sign(hash, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363', ...padding }).toString('base64url');
}

function base64url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}

/** RFC 8785. JSON.stringify writes numbers and texts as it wants them; sort() compares UTF-16 units, as it wants. */
function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const object = value as JsonObject;
  const members = Object.keys(object)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(object[name] ?? null)}`);
  return `{${members.join(',')}}`;
}
