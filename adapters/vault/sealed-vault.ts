import { CompactEncrypt, compactDecrypt } from 'jose';
import type { Clock, Digest } from '../../core/ports/clock.ts';
import type { Credential, CredentialSubject, Vault } from '../../core/ports/vault.ts';
import type { UserToken } from '../../core/principal.ts';
import { expiryOf } from './expiry.ts';

/*
 * User tokens as JWEs in the store's rows. The header is authenticated and names whose token it is and which key
 * sealed it, so a row that was copied to another user, or changed, opens for nobody. Whatever does not open is simply
 * not there: its user is asked for a new token.
 */

/** Users whose sealed token is kept in memory, a few kilobytes each. */
const LATELY_MAX = 1_000;

export interface SealedVaultOptions {
  /** 32 bytes each. The first seals, all open: a new key goes first, an old one may go when its tokens have expired. */
  readonly keys: readonly [Uint8Array, ...Uint8Array[]];
  readonly digest: Digest;
  readonly clock: Clock;
}

export function createSealedVault(options: SealedVaultOptions): Vault {
  const { keys, digest, clock } = options;
  const keyId = (key: Uint8Array) => digest(`credentials key ${Buffer.from(key).toString('base64')}`).slice(0, 16);
  const byId = new Map(keys.map((key) => [keyId(key), key]));
  const [current] = keys;
  const currentId = keyId(current);
  /** What was sealed last for each user: a token comes with every call, and a poll a second brings the same one. */
  const lately = new Map<string, { readonly hash: string; readonly sealed: string }>();

  async function seal({ tenant, principal }: CredentialSubject, token: string): Promise<string> {
    return new CompactEncrypt(new TextEncoder().encode(token))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: currentId, tenant, principal })
      .encrypt(current);
  }

  return {
    async hold(subject: CredentialSubject, token: UserToken): Promise<Credential> {
      const hash = digest(token.token);
      const user = JSON.stringify([subject.tenant, subject.principal]);
      const known = lately.get(user);
      const sealed = known?.hash === hash ? known.sealed : await seal(subject, token.token);
      // To the end of the queue: the user who was not heard of for longest goes first.
      lately.delete(user);
      lately.set(user, { hash, sealed });
      const [oldest] = lately.size > LATELY_MAX ? lately.keys() : [];
      if (oldest !== undefined) lately.delete(oldest);
      return { hash, expiresAt: expiryOf(token, clock), sealed };
    },

    async reveal(subject, credential) {
      if (credential.sealed === undefined || credential.expiresAt <= clock.now()) return undefined;
      try {
        const { plaintext, protectedHeader } = await compactDecrypt(
          credential.sealed,
          ({ kid }) => {
            const key = byId.get(kid ?? '');
            if (key === undefined) throw new Error('sealed with another key');
            return key;
          },
          { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
        );
        if (protectedHeader.tenant !== subject.tenant || protectedHeader.principal !== subject.principal) {
          return undefined;
        }
        const token = new TextDecoder().decode(plaintext);
        return digest(token) === credential.hash ? token : undefined;
      } catch {
        return undefined; // a lost key, a changed row: both mean that a new token is needed
      }
    },

    // Nothing here is in clear; but what no row holds any more is not kept either.
    retain(hashes) {
      for (const [user, { hash }] of lately) if (!hashes.has(hash)) lately.delete(user);
    },
  };
}
