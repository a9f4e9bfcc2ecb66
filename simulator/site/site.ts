import { randomUUID } from 'node:crypto';
import { type Installation, newInstallationId } from '../forge/installation.ts';
import type { SiteContent } from './model.ts';
import { createRecords, type Records } from './records.ts';
import { createRequestLog, type LoggedRequest } from './request-log.ts';
import { createTraffic, type Traffic } from './traffic.ts';
import { createUserTokens, type UserTokenOptions, type UserTokens } from './user-tokens.ts';

/** One Jira site: its rows, its people's tokens, its mood, and the app's installation on it. */
export interface Site {
  readonly name: string;
  readonly cloudId: string;
  readonly apiBaseUrl: string;
  readonly siteUrl: string;
  readonly records: Records;
  readonly tokens: UserTokens;
  readonly traffic: Traffic;
  /** The app on this site. Another object after `reinstall`. */
  installation(): Installation;
  /** The app is installed anew: a new id for the same site. Tells nobody: `client.install()` does. */
  reinstall(): Installation;
  /** A token of that person: the one used before while it is good for another hour, else a new one. */
  currentToken(person: string): string;
  newToken(person: string, options?: UserTokenOptions): string;
  /** What was asked of the site so far, oldest first. */
  requests(): readonly LoggedRequest[];
  clearRequests(): void;
  log(request: LoggedRequest): void;
}

export interface SiteOptions {
  readonly name: string;
  readonly content: SiteContent;
  /** Origin of the REST server. */
  readonly origin: string;
  readonly siteUrl: string;
  readonly cloudId?: string;
}

const CURRENT_TOKEN_MS = 3 * 60 * 60_000;

export function createSite(options: SiteOptions): Site {
  const cloudId = options.cloudId ?? randomUUID();
  const apiBaseUrl = `${options.origin}/ex/jira/${cloudId}`;
  const records = createRecords(options.content);
  const tokens = createUserTokens(cloudId);
  const log = createRequestLog();
  const current = new Map<string, { readonly token: string; readonly since: number }>();

  const install = (): Installation => ({
    id: newInstallationId(),
    cloudId,
    apiBaseUrl,
    siteUrl: options.siteUrl,
    installerAccountId: options.content.people[0]?.accountId ?? '',
  });
  let installation = install();

  const newToken: Site['newToken'] = (person, tokenOptions) =>
    tokens.issue(records.person(person).accountId, tokenOptions);

  return {
    name: options.name,
    cloudId,
    apiBaseUrl,
    siteUrl: options.siteUrl,
    records,
    tokens,
    traffic: createTraffic(),
    installation: () => installation,
    reinstall() {
      installation = install();
      return installation;
    },
    newToken,
    currentToken(person) {
      const kept = current.get(person);
      if (kept && Date.now() - kept.since < CURRENT_TOKEN_MS && tokens.look(kept.token).state === 'valid')
        return kept.token;
      const token = newToken(person);
      current.set(person, { token, since: Date.now() });
      return token;
    },
    requests: () => log.all(),
    clearRequests: () => log.clear(),
    log: (request) => log.add(request),
  };
}
