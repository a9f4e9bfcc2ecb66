import type { Json } from '../../core/message.ts';
import type { Tenant } from '../../core/ports/tenants.ts';
import { isUuid } from './forge-ids.ts';
import { safeUrl } from './site-urls.ts';

const id = (value: Json | undefined) => (typeof value === 'string' && isUuid(value) ? value : undefined);

/** Where the user grants the app access to the site, when everything that the address needs is known. */
function settingsUrl(tenant: Tenant | undefined): string | undefined {
  const { siteUrl, appId, environmentId } = tenant?.attributes ?? {};
  const origin = typeof siteUrl === 'string' ? safeUrl(siteUrl)?.origin : undefined;
  const app = id(appId);
  const environment = id(environmentId);
  if (origin === undefined || app === undefined || environment === undefined) return undefined;
  return `${origin}/jira/settings/personal/apps/${app}/${environment}`;
}

/**
 * Markdown for a task that waits for its user's permission (AUTH_REQUIRED): what to do, and a link to the place where
 * it is done, else to `helpUrl`, else none.
 */
export function authorizationText(tenant: Tenant | undefined, options: { readonly helpUrl?: string } = {}): string {
  const settings = settingsUrl(tenant);
  const help =
    settings === undefined
      ? safeUrl(options.helpUrl ?? '')
          ?.href.replaceAll('(', '%28')
          .replaceAll(')', '%29')
      : undefined;
  const where =
    settings !== undefined
      ? `Open [your access settings for this app](${settings}) and allow access.`
      : help !== undefined
        ? `Allow access for this app in your personal Jira settings ([how to do that](${help})).`
        : 'Allow access for this app in your personal Jira settings, under the apps that are connected to your account.';
  return [
    '**I need your permission to go on.**',
    'I read Jira only as you, and right now I have no valid permission from you. It was never given, or it has run out.',
    `1. ${where}\n2. Come back here. I go on by myself as soon as your permission arrives.`,
  ].join('\n\n');
}
