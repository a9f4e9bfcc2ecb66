import { type InvocationClaims, readClaims } from './claims.ts';
import type { ForgeAppId } from './forge-ids.ts';
import { bearerToken, type RequestHeaders } from './headers.ts';
import type { Refuse } from './refusal.ts';
import { remembered } from './remembered.ts';
import { allowedApiBase, hostOf } from './site-urls.ts';

/*
 * Who calls: the Forge Invocation Token. The rules are fixed here and the audience comes from configuration; whoever
 * wires this supplies only the signature check and the keys. A token is proved once, on arrival, before anything of
 * the body is read: it lives for 25 seconds, the work that it starts for an hour.
 */

/** What a verifier must demand of a token. Structurally the rules of adapters/jwks. */
export interface InvocationTokenRules {
  readonly algorithms: readonly string[];
  readonly issuer: string;
  readonly audience: string;
  readonly requiredClaims: readonly string[];
  readonly clockToleranceSeconds: number;
  readonly maxTokenAgeSeconds: number;
}

export type VerifyInvocationToken = (token: string) => Promise<Readonly<Record<string, unknown>>>;

export function invocationTokenRules(app: ForgeAppId): InvocationTokenRules {
  return {
    algorithms: ['RS256'],
    issuer: 'forge/invocation-token',
    audience: app.ari,
    requiredClaims: ['exp', 'iat', 'nbf', 'iss', 'aud', 'jti'],
    clockToleranceSeconds: 5,
    // Twice the life that tokens have: bounds a token whose `exp` is absurd.
    maxTokenAgeSeconds: 50,
  };
}

export interface InvocationTokensOptions {
  readonly app: ForgeAppId;
  readonly verify: VerifyInvocationToken;
  /** Hosts that `app.apiBaseUrl` may name. */
  readonly apiHosts: readonly string[];
  /** Keys of the modules that may send messages; absent or empty = any. */
  readonly moduleKeys?: readonly string[];
  readonly refuse: Refuse;
}

/** A call of an agent connector: a user acts, and Jira can be reached as that user. */
export interface UserInvocation extends InvocationClaims {
  readonly principal: string;
  /** Allowed base URL of Jira's REST API, without a slash at its end. */
  readonly apiBaseUrl: string;
}

export interface InvocationTokens {
  /** Both reject with DomainError UNAUTHENTICATED or AUTHENTICATION_UNAVAILABLE. */
  user(headers: RequestHeaders): Promise<UserInvocation>;
  lifecycle(headers: RequestHeaders): Promise<InvocationClaims>;
}

// A browser shows the tokens of these modules to its user, who could then uninstall the app for everybody.
const BROWSER_MODULE = /^(?:jira|confluence):/i;

export function createInvocationTokens(options: InvocationTokensOptions): InvocationTokens {
  const { app, verify, apiHosts, moduleKeys = [], refuse } = options;
  const allowedBase = remembered((url) => allowedApiBase(url, apiHosts));

  async function claimsOf(headers: RequestHeaders): Promise<InvocationClaims> {
    const token = bearerToken(headers);
    if (token === undefined) throw new Error('no usable bearer token');
    const claims = readClaims(await verify(token), app.uuid);
    if (claims.apiBaseUrl === undefined) return claims;
    const apiBaseUrl = allowedBase(claims.apiBaseUrl);
    if (apiBaseUrl === undefined) {
      const host = hostOf(claims.apiBaseUrl).slice(0, 100);
      throw new Error(
        `app.apiBaseUrl of the token is on "${host}"; ROVO_API_HOSTS allows ${apiHosts.join(', ')} over https`,
      );
    }
    return { ...claims, apiBaseUrl };
  }

  async function guarded<T>(headers: RequestHeaders, check: (claims: InvocationClaims) => T): Promise<T> {
    try {
      return check(await claimsOf(headers));
    } catch (error) {
      throw refuse(error, headers);
    }
  }

  return {
    user: (headers) =>
      guarded(headers, (claims) => {
        const { principal, apiBaseUrl, module } = claims;
        if (principal === undefined) throw new Error('no principal');
        if (apiBaseUrl === undefined) throw new Error('no app.apiBaseUrl');
        if (moduleKeys.length > 0 && !moduleKeys.includes(module.key ?? '')) {
          const key = (module.key ?? '').slice(0, 100);
          throw new Error(`the token is of module "${key}"; ROVO_MODULE_KEYS allows ${moduleKeys.join(', ')}`);
        }
        return { ...claims, principal, apiBaseUrl };
      }),
    lifecycle: (headers) =>
      guarded(headers, (claims) => {
        if (BROWSER_MODULE.test(claims.module.type ?? '')) throw new Error('token of a module that a browser shows');
        return claims;
      }),
  };
}
