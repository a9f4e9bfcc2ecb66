import type { Clock, Digest } from '../../core/ports/clock.ts';
import type { Vault } from '../../core/ports/vault.ts';
import { expiryOf } from './expiry.ts';

export interface MemoryVaultOptions {
  readonly digest: Digest;
  readonly clock: Clock;
}

/**
 * A token that was held a moment ago may not be committed yet, and then the store cannot name it. So `retain` forgets
 * only what has been held for this long.
 */
const SETTLE_MS = 60_000;

/** Tokens in the memory of this process: gone with it, and out of reach of any other. */
export function createMemoryVault(options: MemoryVaultOptions): Vault {
  const { digest, clock } = options;
  const held = new Map<string, { token: string; hash: string; expiresAt: number; heldAt: number }>();
  const slot = (...names: readonly string[]) => JSON.stringify(names);

  return {
    async hold({ tenant, principal }, token) {
      const hash = digest(token.token);
      const expiresAt = expiryOf(token, clock);
      held.set(slot(tenant, principal, hash), { token: token.token, hash, expiresAt, heldAt: clock.now() });
      return { hash, expiresAt };
    },

    async reveal({ tenant, principal }, { hash, expiresAt }) {
      const now = clock.now();
      const entry = held.get(slot(tenant, principal, hash));
      return entry && entry.expiresAt > now && expiresAt > now ? entry.token : undefined;
    },

    retain(hashes) {
      const now = clock.now();
      for (const [key, { hash, expiresAt, heldAt }] of held) {
        if (expiresAt <= now || (!hashes.has(hash) && now - heldAt >= SETTLE_MS)) held.delete(key);
      }
    },
  };
}
