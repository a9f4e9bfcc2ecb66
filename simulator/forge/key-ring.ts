import { randomBytes } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose';

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/**
 * Forge's signing keys. The set also publishes an EC key: the invocation token is RS256 only, and a verifier that lets
 * the key set choose the algorithm is found out by a token that is correctly signed with that key.
 */
export interface KeyRing {
  /** The key that signs from now on. */
  current(): SigningKey;
  /** The EC key that no honest invocation token is signed with. */
  readonly elliptic: SigningKey;
  find(kid: string): SigningKey | undefined;
  /** Publishes one more key; the current one goes on signing. */
  add(): Promise<SigningKey>;
  /** Publishes a new key and signs with it; the old ones stay published. */
  rotate(): Promise<SigningKey>;
  /** Unpublishes a key. The current one cannot be removed. */
  remove(kid: string): void;
  kids(): readonly string[];
  jwks(): { readonly keys: readonly JWK[] };
}

async function createKey(alg: 'RS256' | 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const kid = `forge/invocation-token/${randomBytes(8).toString('hex')}`;
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export async function createKeyRing(): Promise<KeyRing> {
  const [first, elliptic] = await Promise.all([createKey('RS256'), createKey('ES256')]);
  let keys: readonly SigningKey[] = [first];
  let current = first;

  const add = async (): Promise<SigningKey> => {
    const key = await createKey('RS256');
    keys = [...keys, key];
    return key;
  };

  return {
    elliptic,
    add,
    current: () => current,
    find: (kid) => keys.find((key) => key.kid === kid),
    async rotate() {
      current = await add();
      return current;
    },
    remove(kid) {
      if (kid === current.kid) throw new Error('the key that signs cannot be removed: rotate first');
      keys = keys.filter((key) => key.kid !== kid);
    },
    kids: () => keys.map((key) => key.kid),
    jwks: () => ({ keys: [...keys, elliptic].map((key) => key.publicJwk) }),
  };
}
