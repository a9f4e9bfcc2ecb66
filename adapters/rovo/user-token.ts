import { decodeJwt } from 'jose';
import type { UserToken } from '../../core/principal.ts';
import { type RequestHeaders, singleHeader } from './headers.ts';

const MAX_CHARS = 32_768;
const MAX_LIFE_MS = 4 * 3_600_000;
const TOKEN = /^[\x21-\x2b\x2d-\x7e]+$/; // visible ASCII; a comma would be two headers that were joined

/**
 * The user's token that came along, or undefined when there is none, or none that can be used any more. Only Jira can
 * judge it: its `exp` is read to know when to forget it, never trusted beyond the four hours that Atlassian promises.
 */
export function userTokenOf(headers: RequestHeaders, nowMs: number): UserToken | undefined {
  const token = singleHeader(headers, 'x-forge-oauth-user')?.trim();
  if (token === undefined || token.length > MAX_CHARS || !TOKEN.test(token)) return undefined;
  const expiresAt = Math.min(expiryOf(token) ?? Number.POSITIVE_INFINITY, nowMs + MAX_LIFE_MS);
  return expiresAt > nowMs ? { token, expiresAt } : undefined;
}

function expiryOf(token: string): number | undefined {
  try {
    const { exp } = decodeJwt(token);
    return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined;
  } catch {
    return undefined; // opaque to us, which it may well be
  }
}
