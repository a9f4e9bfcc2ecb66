import { SignJWT } from 'jose';
import { startJwksEndpoint } from '../../simulator/forge/jwks-endpoint.ts';
import { createKeyRing } from '../../simulator/forge/key-ring.ts';

export interface TokenChanges {
  readonly tenant?: string;
  readonly issuer?: string;
  readonly audience?: string;
  /** From now, in seconds. */
  readonly issuedIn?: number;
  readonly expiresIn?: number;
  readonly kid?: string;
}

/** An identity provider whose tokens open `/a2a`. */
export interface Issuer {
  readonly env: Readonly<Record<string, string>>;
  token(subject: string, changes?: TokenChanges): Promise<string>;
  readonly jwks: Awaited<ReturnType<typeof startJwksEndpoint>>;
  close(): Promise<void>;
}

const ISSUER = 'https://login.harbor.example';
const AUDIENCE = 'connector';

export async function startIssuer(): Promise<Issuer> {
  const keys = await createKeyRing();
  const jwks = await startJwksEndpoint(keys);
  return {
    env: {
      A2A_AUTH: 'jwt',
      A2A_JWT_ISSUER: ISSUER,
      A2A_JWT_AUDIENCE: AUDIENCE,
      A2A_JWKS_URL: jwks.url,
      A2A_TENANT_CLAIM: 'tenant',
    },
    jwks,
    token(subject, { tenant = 't1', issuer = ISSUER, audience = AUDIENCE, kid, ...times } = {}) {
      const { issuedIn = 0, expiresIn = 3_600 } = times;
      const now = Math.floor(Date.now() / 1000);
      const key = keys.current();
      return new SignJWT({
        tenant,
        sub: subject,
        iss: issuer,
        aud: audience,
        iat: now + issuedIn,
        exp: now + expiresIn,
      })
        .setProtectedHeader({ alg: 'RS256', kid: kid ?? key.kid })
        .sign(key.privateKey);
    },
    close: () => jwks.close(),
  };
}
