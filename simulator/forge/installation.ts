import { randomUUID } from 'node:crypto';

/** One Jira site with the app on it. A reinstall gives it a new id; the cloudId stays. */
export interface Installation {
  /** Bare uuid. Tokens carry it as an ARI, lifecycle bodies bare. */
  readonly id: string;
  readonly cloudId: string;
  /** What `app.apiBaseUrl` says: REST calls as a user go below it. */
  readonly apiBaseUrl: string;
  readonly siteUrl: string;
  readonly installerAccountId: string;
}

export interface ForgeApp {
  /** Bare uuid. */
  readonly uuid: string;
  /** The full ARI: the audience of every invocation token. */
  readonly ari: string;
  readonly environmentUuid: string;
  readonly version: string;
}

export const DEFAULT_APP_UUID = '11111111-2222-4333-8444-555555555555';

export function createForgeApp(uuid: string = DEFAULT_APP_UUID): ForgeApp {
  return {
    uuid,
    ari: `ari:cloud:ecosystem::app/${uuid}`,
    environmentUuid: '12121212-3434-4565-8787-909090909090',
    version: '2.8.0',
  };
}

/** Random on purpose: a service under test may still remember that yesterday's installation was removed. */
export function newInstallationId(): string {
  return randomUUID();
}
