import type { Clock } from '../../core/ports/clock.ts';
import type { UserToken } from '../../core/principal.ts';

const MAX_LIFE_MS = 4 * 3_600_000;

/** When a token is forgotten: at its own end, else after the longest life that one can have. Epoch milliseconds. */
export function expiryOf(token: UserToken, clock: Clock): number {
  return token.expiresAt ?? clock.now() + MAX_LIFE_MS;
}
