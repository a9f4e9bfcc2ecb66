/**
 * A local Atlassian: the keys that sign invocation tokens, two Jira sites behind one REST server, and Jira as the client
 * of a remote agent. Everything is in memory and on loopback; `close()` leaves nothing behind.
 */

import type { CallOptions } from './client/calls.ts';
import { createJiraClient, type JiraClient } from './client/jira-client.ts';
import { createForgeApp, type ForgeApp } from './forge/installation.ts';
import { mintInvocationToken, type TokenOptions } from './forge/invocation-token.ts';
import { type Outage, startJwksEndpoint } from './forge/jwks-endpoint.ts';
import { createKeyRing, type KeyRing } from './forge/key-ring.ts';
import { createTimeScale, type TimeScale } from './limits.ts';
import { HARBOR } from './site/harbor.ts';
import { LANTERN } from './site/lantern.ts';
import type { SiteContent } from './site/model.ts';
import { startRestServer } from './site/rest-server.ts';
import { createSite, type Site } from './site/site.ts';
import type { UserTokenOptions } from './site/user-tokens.ts';

export interface AtlassianOptions {
  /** Bare uuid. */
  readonly appUuid?: string;
  /** 0, the default, takes any free port. */
  readonly jwksPort?: number;
  readonly sitePort?: number;
  /** Divides waits and deadlines of every client, never token times. */
  readonly timeScale?: number;
}

export interface ClientOptions extends CallOptions {
  /** The agent's JSON-RPC endpoint, e.g. `http://127.0.0.1:8080/rovo/a2a`. */
  readonly url: string;
  readonly timeScale?: number;
  /** How long polling and resubscribing go on, unscaled: 60 min unless told. */
  readonly interactionMs?: number;
}

export interface Atlassian {
  readonly app: ForgeApp;
  readonly jwksUrl: string;
  /** Of the first site. */
  readonly apiBaseUrl: string;
  /** What a service needs in its environment to trust this Atlassian. */
  readonly env: Readonly<Record<'FORGE_APP_ID' | 'FORGE_JWKS_URL' | 'ROVO_API_HOSTS', string>>;
  readonly timeScale: TimeScale;
  readonly keyRing: KeyRing;
  /** The first site: `lantern`. */
  readonly site: Site;
  readonly sites: Readonly<Record<'lantern' | 'harbor', Site>>;
  /** One more site with random ids, for what would spoil the others: removing the app from it. */
  openSite(name: string, content?: SiteContent): Site;
  /** By name; the first one without. */
  findSite(name?: string): Site;
  /** An invocation token for alice on the first site unless told. */
  mint(options?: TokenOptions & { readonly as?: string; readonly site?: string }): Promise<string>;
  /** A new OAuth token of that person. */
  userToken(person?: string, options?: UserTokenOptions & { readonly site?: string }): string;
  /** Publishes a new signing key and signs with it from now on; returns its kid. */
  rotateKeys(): Promise<string>;
  outage(kind: Outage): void;
  jwksRequests(): number;
  client(options: ClientOptions): JiraClient;
  close(): Promise<void>;
}

const LANTERN_CLOUD_ID = '99999999-8888-4777-8666-555555555555';
const HARBOR_CLOUD_ID = '77777777-6666-4555-8444-333333333333';

export async function startAtlassian(options: AtlassianOptions = {}): Promise<Atlassian> {
  const app = createForgeApp(options.appUuid);
  const timeScale = createTimeScale(options.timeScale);
  const keyRing = await createKeyRing();
  const jwks = await startJwksEndpoint(keyRing, options.jwksPort);
  const rest = await startRestServer(options.sitePort).catch(async (error: unknown) => {
    await jwks.close();
    throw error;
  });
  const { origin } = rest;
  const sites = {
    lantern: createSite({
      name: 'lantern',
      content: LANTERN,
      origin,
      cloudId: LANTERN_CLOUD_ID,
      siteUrl: 'https://lantern.example',
    }),
    harbor: createSite({
      name: 'harbor',
      content: HARBOR,
      origin,
      cloudId: HARBOR_CLOUD_ID,
      siteUrl: 'https://harbor.example',
    }),
  };
  const all = new Map<string, Site>();
  const open = (site: Site): Site => {
    rest.serve(site);
    all.set(site.name, site);
    return site;
  };
  for (const site of Object.values(sites)) open(site);

  const findSite = (name = 'lantern'): Site => {
    const site = all.get(name);
    if (!site) throw new Error(`no site is called ${name}; there are ${[...all.keys()].join(', ')}`);
    return site;
  };

  return {
    app,
    jwksUrl: jwks.url,
    apiBaseUrl: sites.lantern.apiBaseUrl,
    env: { FORGE_APP_ID: app.ari, FORGE_JWKS_URL: jwks.url, ROVO_API_HOSTS: new URL(origin).host },
    timeScale,
    keyRing,
    site: sites.lantern,
    sites,
    openSite: (name, content = HARBOR) =>
      open(createSite({ name, content, origin, siteUrl: `https://${name}.example` })),
    findSite,
    mint({ as = 'alice', site: siteName, ...tokenOptions } = {}) {
      const site = findSite(siteName);
      const principal = site.records.person(as).accountId;
      return mintInvocationToken(keyRing, { app, installation: site.installation(), principal }, tokenOptions);
    },
    userToken: (person = 'alice', { site, ...tokenOptions } = {}) => findSite(site).newToken(person, tokenOptions),
    rotateKeys: async () => (await keyRing.rotate()).kid,
    outage: (kind) => jwks.outage(kind),
    jwksRequests: () => jwks.requests(),
    client: ({ timeScale: factor, interactionMs, ...defaults }) =>
      createJiraClient({
        app,
        keyRing,
        timeScale: factor === undefined ? timeScale : createTimeScale(factor),
        site: findSite,
        defaults,
        ...(interactionMs === undefined ? {} : { interactionMs }),
      }),
    async close() {
      await Promise.all([jwks.close(), rest.close()]);
    },
  };
}
