import { randomBytes } from 'node:crypto';

/**
 * OAuth tokens that a person's calls carry. They look like unsigned JWTs (so that `exp` can be read) and mean nothing
 * but a row in this table: a forged or edited one is unknown here.
 */
export interface UserTokenOptions {
  /** Up to 4 h in real life. */
  readonly lifeMs?: number;
  /** Minted that long ago; with more than `lifeMs` it is expired on arrival. */
  readonly ageMs?: number;
  readonly scopes?: readonly string[];
  /** No readable `exp` inside. */
  readonly opaque?: boolean;
}

export type TokenState =
  | { readonly state: 'valid'; readonly accountId: string; readonly scopes: readonly string[] }
  | { readonly state: 'unknown' | 'expired' | 'revoked' };

export interface UserTokens {
  issue(accountId: string, options?: UserTokenOptions): string;
  revoke(token: string): void;
  /** Every token of one person, as when they take their consent back. */
  revokeAll(accountId: string): void;
  look(token: string): TokenState;
}

export const USER_TOKEN_LIFE_MS = 4 * 60 * 60_000;
export const DEFAULT_SCOPES: readonly string[] = ['read:jira-work', 'read:jira-user'];

interface Row {
  readonly accountId: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  revoked: boolean;
}

export function createUserTokens(cloudId: string): UserTokens {
  const rows = new Map<string, Row>();
  return {
    issue(accountId, options = {}) {
      const issuedAt = Date.now() - (options.ageMs ?? 0);
      const expiresAt = issuedAt + (options.lifeMs ?? USER_TOKEN_LIFE_MS);
      const scopes = options.scopes ?? DEFAULT_SCOPES;
      const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const secret = randomBytes(24).toString('base64url');
      const claims = {
        sub: accountId,
        aud: cloudId,
        scope: scopes.join(' '),
        iat: Math.floor(issuedAt / 1000),
        exp: Math.floor(expiresAt / 1000),
      };
      const token = options.opaque
        ? `opaque-${secret}`
        : `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.${secret}`;
      rows.set(token, { accountId, scopes, expiresAt, revoked: false });
      return token;
    },
    revoke(token) {
      const row = rows.get(token);
      if (row) row.revoked = true;
    },
    revokeAll(accountId) {
      for (const row of rows.values()) if (row.accountId === accountId) row.revoked = true;
    },
    look(token) {
      const row = rows.get(token);
      if (!row) return { state: 'unknown' };
      if (row.revoked) return { state: 'revoked' };
      if (row.expiresAt <= Date.now()) return { state: 'expired' };
      return { state: 'valid', accountId: row.accountId, scopes: row.scopes };
    },
  };
}
