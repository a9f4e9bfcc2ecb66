import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { DomainError, isDomainError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { KeySet } from './key-set.ts';

/** What a token must be. `issuer`, `audience` and `algorithms` come from configuration, never from a token. */
export interface TokenRules {
  /** Asymmetric ones only: a key set has no shared secrets. */
  readonly algorithms: readonly string[];
  readonly issuer: string;
  readonly audience: string;
  readonly requiredClaims: readonly string[];
  readonly clockToleranceSeconds: number;
  /** Time since `iat`. Absent: only `exp` ends a token. */
  readonly maxTokenAgeSeconds?: number;
}

export interface TokenVerifierOptions extends TokenRules {
  readonly keySet: KeySet;
  readonly clock: Clock;
}

/**
 * Proves who signed a token and that it is meant for us, now. Answers its claims; rejects with DomainError
 * UNAUTHENTICATED (fixed text, the reason is in `cause`) or AUTHENTICATION_UNAVAILABLE.
 */
export type VerifyToken = (token: string) => Promise<JWTPayload>;

const MAX_AUDIENCE_CHARS = 100;

/**
 * jose's errors carry the whole claims, and a cause is logged: only its words stay. An audience names an application,
 * nobody's secret, and a wrong one is nearly always a wrong setting: both sides are said. The signature has been
 * checked by then, so that no stranger chooses what we log.
 */
function causeOf(error: unknown, audience: string): unknown {
  if (!(error instanceof errors.JOSEError)) return error;
  if (!(error instanceof errors.JWTClaimValidationFailed) || error.claim !== 'aud' || error.payload.aud === undefined)
    return new Error(`${error.code}: ${error.message}`);
  const named = JSON.stringify(error.payload.aud).slice(0, MAX_AUDIENCE_CHARS);
  return new Error(`${error.code}: "aud" of the token is ${named}, the configuration wants "${audience}"`);
}

/** Throws a TypeError on rules that would let everybody in. */
export function createTokenVerifier(options: TokenVerifierOptions): VerifyToken {
  const { keySet, clock, algorithms, issuer, audience, requiredClaims, clockToleranceSeconds } = options;
  if (issuer.trim() === '' || audience.trim() === '') throw new TypeError('issuer and audience must not be empty');
  if (algorithms.length === 0 || algorithms.some((name) => name === 'none' || name.startsWith('HS'))) {
    throw new TypeError('algorithms must be asymmetric, and at least one');
  }
  const rules: JWTVerifyOptions = {
    algorithms: [...algorithms],
    issuer,
    audience,
    requiredClaims: [...requiredClaims],
    clockTolerance: clockToleranceSeconds,
    ...(options.maxTokenAgeSeconds === undefined ? {} : { maxTokenAge: options.maxTokenAgeSeconds }),
  };

  return async (token) => {
    const now = clock.now();
    try {
      const { payload } = await jwtVerify(token, keySet.find, { ...rules, currentDate: new Date(now) });
      // jose looks at a future `iat` only together with maxTokenAge.
      if (payload.iat !== undefined && payload.iat * 1000 > now + clockToleranceSeconds * 1000) {
        throw new Error('issued in the future');
      }
      return payload;
    } catch (error) {
      if (isDomainError(error)) throw error;
      throw new DomainError('UNAUTHENTICATED', 'Authentication failed', { cause: causeOf(error, audience) });
    }
  };
}
