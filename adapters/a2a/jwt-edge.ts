import { DomainError } from '../../core/errors.ts';
import type { EdgeProfile } from '../../core/ports/edge.ts';
import type { Edge } from './edge.ts';
import type { Offer } from './offer.ts';
import { traceOf } from './trace.ts';

export interface JwtEdgeOptions {
  readonly profile: EdgeProfile;
  readonly versions: readonly string[];
  readonly streaming: boolean;
  /** What callers are held to; absent: nothing. */
  readonly offer?: Offer;
  /** AGENT_ID. */
  readonly agent: string;
  /** How long one interaction may take. */
  readonly deadlineMs: number;
  /**
   * Answers the claims of a token whose signature, issuer, audience and times are right. Rejects with DomainError
   * AUTHENTICATION_UNAVAILABLE when that cannot be told now; anything else it rejects with is a refusal.
   */
  readonly verify: (token: string) => Promise<Readonly<Record<string, unknown>>>;
  readonly issuer: string;
  /** Claim that names the tenant. Absent: every caller of the issuer belongs to one tenant. */
  readonly tenantClaim?: string;
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const MAX_NAME_CHARS = 256;
const CONTROL = /\p{Cc}/u;

export function createJwtEdge(options: JwtEdgeOptions): Edge {
  const { tenantClaim } = options;
  return {
    name: options.profile.name,
    profile: options.profile,
    defaultVersion: '0.3',
    versions: options.versions,
    streaming: options.streaming,
    ...(options.offer ? { offer: options.offer } : {}),
    authenticate: async (headers) => {
      const token = BEARER.exec(headers.authorization ?? '')?.[1];
      if (token === undefined) throw new DomainError('UNAUTHENTICATED', 'A bearer token is required');
      const claims = await verified(options, token);
      const principal = nameIn(claims, 'sub');
      const tenant = tenantClaim === undefined ? undefined : nameIn(claims, tenantClaim);
      return {
        caller: {
          owner: { tenant: `jwt:${options.issuer}:${tenant ?? ''}`, principal, agent: options.agent },
          ...traceOf(headers),
        },
        tenant,
        prepare: ({ params }) => ({ params, deadlineMs: options.deadlineMs }),
      };
    },
  };
}

async function verified(options: JwtEdgeOptions, token: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await options.verify(token);
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new DomainError('UNAUTHENTICATED', 'The bearer token is not valid', { cause: error });
  }
}

function nameIn(claims: Readonly<Record<string, unknown>>, claim: string): string {
  const value = claims[claim];
  if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_NAME_CHARS || CONTROL.test(value)) {
    throw new DomainError('UNAUTHENTICATED', 'The bearer token lacks a claim that is needed');
  }
  return value;
}
