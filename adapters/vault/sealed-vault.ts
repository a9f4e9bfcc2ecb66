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

  return {
    async hold(subject: CredentialSubject, token: UserToken): Promise<Credential> {
      const { tenant, principal } = subject;
      const sealed = await new CompactEncrypt(new TextEncoder().encode(token.token))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: currentId, tenant, principal })
        .encrypt(current);
      return { hash: digest(token.token), expiresAt: expiryOf(token, clock), sealed };
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

    retain() {}, // nothing is kept in memory
  };
}
