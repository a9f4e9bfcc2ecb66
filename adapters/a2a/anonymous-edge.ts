import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../core/errors.ts';
import type { EdgeProfile } from '../../core/ports/edge.ts';
import type { Edge } from './edge.ts';
import type { Offer } from './offer.ts';
import { traceOf } from './trace.ts';

export interface AnonymousEdgeOptions {
  readonly profile: EdgeProfile;
  readonly versions: readonly string[];
  readonly streaming: boolean;
  /** What callers are held to; absent: nothing. */
  readonly offer?: Offer;
  /** AGENT_ID. */
  readonly agent: string;
  /** How long one interaction may take. */
  readonly deadlineMs: number;
}

/** What a proxy or a tunnel adds on the way from elsewhere. */
const FORWARDED =
  /^(forwarded|x-forwarded-.+|x-real-ip|true-client-ip|cf-.+|x-client-ip|x-cluster-client-ip|fly-client-ip)$/;
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
const LOOPBACK_ADDRESS = /^(::ffff:)?127\.|^::1$/;

/**
 * For development on one's own machine: everybody is the same caller, and everybody is here. A request that came
 * through a tunnel or for another host name is refused; the latter is also what a rebound DNS name looks like.
 */
export function createAnonymousEdge(options: AnonymousEdgeOptions): Edge {
  const owner = { tenant: 'anonymous', principal: 'anonymous', agent: options.agent };
  return {
    name: options.profile.name,
    profile: options.profile,
    defaultVersion: '0.3',
    versions: options.versions,
    streaming: options.streaming,
    ...(options.offer ? { offer: options.offer } : {}),
    authenticate: async (headers, { address }) => {
      if (!isLocal(headers, address)) {
        throw new DomainError('FORBIDDEN', 'Anonymous calls are taken from this machine only');
      }
      return {
        caller: { owner, ...traceOf(headers) },
        prepare: ({ params }) => ({ params, deadlineMs: options.deadlineMs }),
      };
    },
  };
}

function isLocal(headers: IncomingHttpHeaders, address: string | undefined): boolean {
  if (!LOOPBACK_HOST.test(headers.host ?? '')) return false;
  if (address !== undefined && !LOOPBACK_ADDRESS.test(address)) return false;
  return !Object.keys(headers).some((name) => FORWARDED.test(name));
}
