/** Invocation tokens of the reference agent: the whole of the rules, and the ways to get them wrong. */
import { decodeJwt, decodeProtectedHeader, errors, importJWK, type JWK, type JWTPayload, jwtVerify } from 'jose';
import type { Flaw } from './flaws.ts';

export interface Caller {
  readonly tenant: string;
  readonly principal: string;
  readonly apiBaseUrl: string;
  readonly moduleType: string;
  readonly jti: string;
}

export type Verdict = Caller | { readonly status: 401 | 503 };

export interface Trust {
  readonly appAri: string;
  readonly jwksUrl: string;
  readonly apiHosts: readonly string[];
  readonly cooldownMs: number;
  readonly flaws: ReadonlySet<Flaw>;
}

interface ForgeClaims extends JWTPayload {
  readonly app?: {
    readonly installationId?: string;
    readonly apiBaseUrl?: string;
    readonly module?: { readonly type?: string };
  };
  readonly principal?: string;
}

export function createVerifier(trust: Trust): (authorization: string | undefined) => Promise<Verdict> {
  let keys = new Map<string, Awaited<ReturnType<typeof importJWK>>>();
  let attemptedAt = Number.NEGATIVE_INFINITY;
  let failed = false;

  let loading: Promise<void> | undefined;

  const refresh = async (): Promise<void> => {
    if (trust.flaws.has('fetches-for-every-kid')) return load();
    if (!loading && performance.now() - attemptedAt < trust.cooldownMs) return;
    loading ??= load().finally(() => {
      loading = undefined;
    });
    await loading;
  };

  const load = async (): Promise<void> => {
    attemptedAt = performance.now();
    try {
      const response = await fetch(trust.jwksUrl, { headers: { connection: 'close' } });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      const set = (await response.json()) as { keys: (JWK & { kid: string; alg: string })[] };
      const loaded = await Promise.all(set.keys.map(async (key) => [key.kid, await importJWK(key, key.alg)] as const));
      keys = new Map(loaded);
      failed = false;
    } catch {
      failed = true;
    }
  };

  const read = (claims: ForgeClaims): Verdict => {
    const { app, principal } = claims;
    if (!app?.installationId || !app.apiBaseUrl || !principal) return { status: 401 };
    if (!trust.apiHosts.includes(new URL(app.apiBaseUrl).host)) return { status: 401 };
    return {
      tenant: app.installationId,
      principal,
      apiBaseUrl: app.apiBaseUrl,
      moduleType: app.module?.type ?? '',
      jti: claims.jti ?? '',
    };
  };

  return async (authorization) => {
    const token = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1];
    if (token === undefined) return { status: 401 };
    try {
      if (trust.flaws.has('trusts-unsigned')) return read(decodeJwt(token));
      const { kid, alg } = decodeProtectedHeader(token);
      if (kid === undefined || (alg !== 'RS256' && !trust.flaws.has('any-algorithm'))) return { status: 401 };
      if (!keys.has(kid)) await refresh();
      const key = keys.get(kid);
      if (!key) return { status: failed ? 503 : 401 };
      const { payload } = await jwtVerify(token, key, {
        issuer: 'forge/invocation-token',
        audience: trust.flaws.has('audience-from-token') ? String(decodeJwt(token).aud) : trust.appAri,
        requiredClaims: ['exp', 'iat', 'nbf', 'iss', 'aud', 'jti'],
        clockTolerance: 5,
        ...(trust.flaws.has('any-iat') ? {} : { maxTokenAge: 60 }),
      });
      return read(payload);
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return { status: 401 };
      throw error;
    }
  };
}
