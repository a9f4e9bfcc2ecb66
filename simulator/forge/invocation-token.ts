import { createPublicKey, randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { isObject, type JsonObject } from '../json.ts';
import type { ForgeApp, Installation } from './installation.ts';
import type { KeyRing } from './key-ring.ts';

/**
 * Mints Forge Invocation Tokens, honest ones by default: RS256 with a kid, 25 s of life, `nbf` 30 s before `iat`, a new
 * 40 digit `jti` each. Every option but `module` and `includeSiteUrl` makes a token that must be refused.
 */
export interface TokenOptions {
  readonly module?: { readonly type: string; readonly key: string };
  readonly includeSiteUrl?: boolean;
  /** `HS256` is signed with the public key's PEM: the classic confusion. `ES256` with a key that the set publishes. */
  readonly alg?: 'RS256' | 'ES256' | 'HS256' | 'none';
  /** Signs with another published key. */
  readonly signWith?: string;
  /** What the header says, whatever signed; null leaves it out. */
  readonly kid?: string | null;
  readonly issuer?: string;
  readonly audience?: string;
  /** Minted that long ago: 60,000 makes an expired one. Negative: in the future. */
  readonly ageMs?: number;
  readonly lifeMs?: number;
  /** Claims to leave out, by their top-level names. */
  readonly omit?: readonly string[];
  /** Merged over the claims, objects deeply. */
  readonly claims?: JsonObject;
}

export interface TokenSubject {
  readonly app: ForgeApp;
  readonly installation: Installation;
  readonly principal: string;
}

const LIFE_MS = 25_000;
const NOT_BEFORE_S = 30;
export const CONNECTOR_MODULE = { type: 'rovo:agentConnector', key: 'agent-connector' } as const;
export const LIFECYCLE_MODULE = { type: 'core:trigger', key: 'lifecycle' } as const;

function merge(base: JsonObject, over: JsonObject): JsonObject {
  const merged: Record<string, JsonObject[string]> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? merge(before as JsonObject, value as JsonObject) : value;
  }
  return merged;
}

function claimsFor(subject: TokenSubject, options: TokenOptions): JsonObject {
  const { app, installation, principal } = subject;
  const module = options.module ?? CONNECTOR_MODULE;
  const iat = Math.floor((Date.now() - (options.ageMs ?? 0)) / 1000);
  const installationAri = `ari:cloud:ecosystem::installation/${installation.id}`;
  const honest: JsonObject = {
    app: {
      id: app.ari,
      version: '9',
      appVersion: app.version,
      installationId: installationAri,
      apiBaseUrl: installation.apiBaseUrl,
      environment: {
        type: 'DEVELOPMENT',
        id: `ari:cloud:ecosystem::environment/${app.uuid}/${app.environmentUuid}`,
      },
      module,
      installation: { id: installationAri, contexts: [{ name: 'jira', apiBaseUrl: installation.apiBaseUrl }] },
    },
    context: {
      cloudId: installation.cloudId,
      moduleKey: module.key,
      userAccess: { enabled: false, hasAccess: true },
      ...(options.includeSiteUrl ? { siteUrl: installation.siteUrl } : {}),
    },
    principal,
    aud: options.audience ?? app.ari,
    iss: options.issuer ?? 'forge/invocation-token',
    nbf: iat - NOT_BEFORE_S,
    iat,
    exp: iat + Math.floor((options.lifeMs ?? LIFE_MS) / 1000),
    jti: randomBytes(20).toString('hex'),
  };
  const claims: Record<string, JsonObject[string]> = { ...merge(honest, options.claims ?? {}) };
  for (const name of options.omit ?? []) delete claims[name];
  return claims;
}

function unsigned(header: JsonObject, claims: JsonObject): string {
  const encode = (value: JsonObject) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${encode(header)}.${encode(claims)}.`;
}

export async function mintInvocationToken(
  keyRing: KeyRing,
  subject: TokenSubject,
  options: TokenOptions = {},
): Promise<string> {
  const alg = options.alg ?? 'RS256';
  const key = alg === 'ES256' ? keyRing.elliptic : keyRing.find(options.signWith ?? keyRing.current().kid);
  if (!key) throw new Error(`no published key ${options.signWith}`);
  const kid = options.kid === undefined ? key.kid : options.kid;
  const header = { alg, typ: 'JWT', ...(kid === null ? {} : { kid }) };
  const claims = claimsFor(subject, options);
  if (alg === 'none') return unsigned(header, claims);
  const pem = () =>
    createPublicKey({ key: { ...key.publicJwk }, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  const secret = alg === 'HS256' ? new TextEncoder().encode(pem().toString()) : key.privateKey;
  return new SignJWT({ ...claims }).setProtectedHeader(header).sign(secret);
}
