import {
  type CryptoKey,
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWTHeaderParameters,
} from 'jose';
import { DomainError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { readAtMost } from './read-at-most.ts';

/*
 * The issuer's public keys, kept so that neither an outage of its host nor a caller with made-up key ids can hurt.
 * Invariants: the host is asked at most once per cooldown, whatever it answers and however many ask; a key that is
 * known goes on working while the host is down, for a day; after that it counts for nothing.
 * jose's own remote set only coalesces and imports here: it forgets failed attempts and judges age by Date.now(), so
 * its cooldown is zero, its age limit infinite, and both rules live in the fetch that it is given.
 */

export interface KeySetOptions {
  /** https, or http on loopback: the caller has checked it. */
  readonly url: string;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly fetch?: FetchImplementation;
  /** Quiet time after an attempt, good or bad. Default 30 s. */
  readonly cooldownMs?: number;
  /** Time between reloads in the background. Default 10 min. */
  readonly reloadMs?: number;
  /** Keys that could not be refreshed for so long are dropped. Default 24 h. */
  readonly keepMs?: number;
  /** One attempt, headers and body together. Default 5 s. */
  readonly timeoutMs?: number;
  /** Default 256 kB. */
  readonly maxBytes?: number;
}

export interface KeySet {
  /**
   * The key that a token's header names. Rejects with DomainError UNAUTHENTICATED when the issuer does not publish it
   * and AUTHENTICATION_UNAVAILABLE (with `retryAfterMs`) when nobody can tell, because the last attempt failed.
   */
  find(header: JWTHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey>;
  /** Stops the reloads in the background. */
  close(): void;
}

/** The host was asked a moment ago and is left alone: nothing has failed. */
class CoolingDown extends Error {}

export function createKeySet(options: KeySetOptions): KeySet {
  const { url, clock, telemetry } = options;
  const { fetch: load = fetch, cooldownMs = 30_000, reloadMs = 600_000, keepMs = 86_400_000 } = options;
  const { timeoutMs = 5_000, maxBytes = 262_144 } = options;
  let refreshedAt = Number.NEGATIVE_INFINITY;
  let nextAttemptAt = Number.NEGATIVE_INFINITY;
  /** More than a whole cooldown is left only when the clock was set back, and that is no reason to wait. */
  const coolingMs = (): number => {
    const leftMs = nextAttemptAt - clock.now();
    return leftMs > cooldownMs ? 0 : Math.max(0, leftMs);
  };
  let failed = false;
  let lastFailure = '';

  const guarded: FetchImplementation = async (href, init) => {
    if (coolingMs() > 0) throw new CoolingDown();
    try {
      const response = await load(href, { ...init, redirect: 'manual' });
      const text = await readAtMost(response, maxBytes);
      createLocalJWKSet(JSON.parse(text) as JSONWebKeySet); // throws unless it is a key set
      failed = false;
      refreshedAt = clock.now();
      telemetry.count('a2a_jwks_fetches_total', { outcome: 'ok' });
      return new Response(text);
    } catch (error) {
      failed = true;
      lastFailure = `the key set cannot be fetched (${error instanceof Error ? error.message : String(error)})`;
      telemetry.count('a2a_jwks_fetches_total', { outcome: 'failed' });
      telemetry.event('warn', 'jwks.failed', { hasKeys: refreshedAt > Number.NEGATIVE_INFINITY }, error);
      throw error;
    } finally {
      nextAttemptAt = clock.now() + cooldownMs;
    }
  };

  const remote = createRemoteJWKSet(new URL(url), {
    [customFetch]: guarded,
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: 0,
    timeoutDuration: timeoutMs,
  });

  const nextFetch = () => `next fetch in ${Math.ceil(coolingMs() / 1000)} s`;
  const isUnknownKey = (cause: unknown) => cause instanceof CoolingDown || cause instanceof errors.JWKSNoMatchingKey;
  const refusal = (cause: unknown) =>
    failed
      ? new DomainError('AUTHENTICATION_UNAVAILABLE', 'Authentication is not available at the moment', {
          retryAfterMs: Math.max(1_000, coolingMs()),
          cause: cause instanceof CoolingDown ? new Error(`${lastFailure}; ${nextFetch()}`) : cause,
        })
      : new DomainError('UNAUTHENTICATED', 'Authentication failed', {
          cause: isUnknownKey(cause)
            ? new Error(`unknown key id: ${new URL(url).host} does not publish it; ${nextFetch()}`)
            : cause,
        });

  let cancel = () => {};
  const reloadLater = () => {
    cancel = clock.timer(reloadMs, () => {
      remote.reload().catch(() => {}); // already logged, and a refusal within the cooldown is no failure
      reloadLater();
    });
  };
  reloadLater();

  return {
    async find(header, token) {
      if (typeof header.kid !== 'string' || header.kid === '') {
        throw new DomainError('UNAUTHENTICATED', 'Authentication failed', { cause: new Error('no key id') });
      }
      try {
        if (clock.now() - refreshedAt >= keepMs) await remote.reload();
        return await remote(header, token);
      } catch (error) {
        throw refusal(error);
      }
    },
    close: () => cancel(),
  };
}
