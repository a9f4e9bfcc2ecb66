import type { IncomingHttpHeaders } from 'node:http';
import { Extensions } from '@a2a-js/sdk';
import { DomainError } from '../../core/errors.ts';
import type { Offer } from './offer.ts';

/** 1.0 and 0.3 name the same header differently; the one that a client sends is enough. */
const HEADERS = ['a2a-extensions', 'x-a2a-extensions'];
/** A caller learns here what is required. */
const EXEMPT = ['GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard'];

/**
 * Extensions that a caller has activated are those of its header; what it does not know is no fault, what it leaves out
 * may be. Throws DomainError EXTENSION_REQUIRED.
 */
export function requireExtensions(offer: Offer, method: string, headers: IncomingHttpHeaders): void {
  const required = offer.extensions.filter((extension) => extension.required);
  if (required.length === 0 || EXEMPT.includes(method)) return;
  const activated = HEADERS.flatMap((name) => Extensions.parseServiceParameter(String(headers[name] ?? '')));
  const missing = required.filter(({ uri }) => !activated.includes(uri));
  if (missing.length === 0) return;
  const names = missing.map(({ uri }) => uri).join(', ');
  throw new DomainError('EXTENSION_REQUIRED', `The header A2A-Extensions has to name ${names}`);
}
