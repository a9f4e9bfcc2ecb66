import { ProcessorBuilder, ValidationTypes } from '@forge/manifest';

/** What the service answers: the manifest has an endpoint for each, and no other. */
export const ROUTES: readonly string[] = ['/rovo/a2a', '/rovo/lifecycle', '/rovo/pre-uninstall'];

/** The id that the repository ships, until `forge register` writes a real one. */
const PLACEHOLDER_APP = '00000000-0000-0000-0000-000000000000';

/** The parts of a manifest that the rules below look at, as YAML gives them; of whatever shape a person left them in. */
interface Manifest {
  readonly app?: { readonly id?: unknown };
  readonly environment?: {
    readonly variables?: readonly (string | { readonly key: string; readonly default: string })[];
  };
  readonly remotes?: readonly {
    readonly key: string;
    readonly baseUrl?: unknown;
    readonly operations?: readonly string[];
    readonly storage?: { readonly inScopeEUD?: boolean };
    readonly auth?: Auth;
  }[];
  readonly modules?: {
    readonly 'rovo:agentConnector'?: readonly {
      readonly conversationStarters?: readonly string[];
      readonly protocols?: {
        readonly agent2Agent?: {
          readonly version?: unknown;
          readonly pushNotifications?: boolean;
          readonly jsonRpcTransport?: { readonly endpoint?: string; readonly streaming?: boolean };
        };
      };
    }[];
    readonly endpoint?: readonly {
      readonly key: string;
      readonly remote: string;
      readonly route?: unknown;
      readonly auth?: Auth;
    }[];
    readonly trigger?: readonly { readonly endpoint?: string; readonly events: readonly string[] }[];
    readonly preUninstall?: readonly { readonly endpoint?: string }[];
  };
  readonly permissions?: { readonly scopes?: unknown };
}

interface Auth {
  readonly appUserToken?: { readonly enabled: boolean };
  readonly appSystemToken?: { readonly enabled: boolean };
}

/** Scopes that the service uses, and no other: each more is something that an administrator has to consent to. */
const SCOPES = ['read:jira-work', 'read:app-user-token'];

/** Everything that Atlassian's own package says about the file, over all of its validations. Reads files only. */
export async function atlassianProblems(file: string): Promise<readonly string[]> {
  const problems = new Set<string>();
  for (const type of Object.values(ValidationTypes)) {
    const result = await ProcessorBuilder.instance().withValidation(type).build().process(file);
    for (const { message } of result.errors ?? []) problems.add(message);
    if (!result.success && !result.errors?.length) problems.add(`${type} failed`);
  }
  return [...problems];
}

async function contentOf(file: string): Promise<Manifest | undefined> {
  const parsed = await ProcessorBuilder.instance().withValidation(ValidationTypes.BASIC).build().process(file);
  const content: unknown = parsed.manifestObject?.yamlContent;
  return typeof content === 'object' && content !== null ? (content as Manifest) : undefined;
}

/** What that package lets through and Jira or this service would not work with. Empty for a file that is no manifest. */
export async function ownProblems(file: string): Promise<readonly string[]> {
  const manifest = await contentOf(file);
  if (!manifest) return [];
  return [...new Set([...connectorProblems(manifest), ...endpointProblems(manifest), ...remoteProblems(manifest)])];
}

/** Everything about a file in lines for a person: one for each problem, or that there is none. */
export async function report(file: string): Promise<{ readonly lines: readonly string[]; readonly sound: boolean }> {
  const problems = new Set([...(await atlassianProblems(file)), ...(await ownProblems(file))]);
  if (problems.size > 0) return { lines: [...problems].map((one) => one.replace(/\s+/g, ' ').trim()), sound: false };
  const unregistered = String((await contentOf(file))?.app?.id).endsWith(PLACEHOLDER_APP);
  const note = unregistered ? ["app.id is still nobody's: forge register writes yours"] : [];
  return { lines: ['no problem found', ...note], sound: true };
}

function connectorProblems({ modules, permissions }: Manifest): string[] {
  const connectors = modules?.['rovo:agentConnector'] ?? [];
  const problems: string[] = connectors.length === 1 ? [] : ['there is not one agent connector'];
  for (const { conversationStarters = [], protocols } of connectors) {
    const { version, pushNotifications, jsonRpcTransport } = protocols?.agent2Agent ?? {};
    if (conversationStarters.length > 3) problems.push('there are more than 3 starters');
    for (const starter of conversationStarters) {
      if (starter.length > 85) problems.push(`a starter is longer than 85 characters: "${starter.slice(0, 40)}…"`);
    }
    // The package says so itself when it is no text at all.
    if (typeof version === 'string' && version !== '1.0') problems.push('the protocol version is not the text 1.0');
    if (pushNotifications !== false) problems.push('push notifications are promised');
    if (jsonRpcTransport?.streaming !== true) problems.push('streaming is off');
    const endpoint = modules?.endpoint?.find(({ key }) => key === jsonRpcTransport?.endpoint);
    if (endpoint?.auth?.appUserToken?.enabled !== true) problems.push("the user's token is not handed over");
  }
  const scopes = Array.isArray(permissions?.scopes) ? permissions.scopes : [];
  if ([...scopes].sort().join() !== [...SCOPES].sort().join())
    problems.push(`the scopes are not the ones that are used: ${SCOPES.join(', ')}`);
  return problems;
}

function endpointProblems({ modules = {}, remotes = [] }: Manifest): string[] {
  const endpoints = modules.endpoint ?? [];
  const problems: string[] = [];
  const paths = endpoints.map(({ key, remote, route, auth }) => {
    if (key.length > 23) problems.push(`the endpoint key ${key} is longer than 23 characters`);
    if (!remotes.some((each) => each.key === remote)) problems.push(`the endpoint ${key} names no remote`);
    if (auth?.appSystemToken?.enabled) problems.push(`the endpoint ${key} gets the app's own token`);
    const path = typeof route === 'object' && route !== null && 'path' in route ? route.path : undefined;
    if (typeof path !== 'string') problems.push(`the route of ${key} is no object with a path`);
    return path;
  });
  if ([...paths].sort().join() !== [...ROUTES].sort().join())
    problems.push(`the endpoints are not the routes of the service: ${ROUTES.join(', ')}`);
  const events = modules.trigger?.flatMap((trigger) => trigger.events) ?? [];
  for (const event of ['avi:forge:installed:app', 'avi:forge:upgraded:app']) {
    if (!events.includes(event)) problems.push(`nothing listens to ${event}`);
  }
  if (!modules.preUninstall?.length) problems.push('nothing listens to the uninstallation');
  const used = [
    ...(modules['rovo:agentConnector'] ?? []).map(
      ({ protocols }) => protocols?.agent2Agent?.jsonRpcTransport?.endpoint,
    ),
    ...[...(modules.trigger ?? []), ...(modules.preUninstall ?? [])].map(({ endpoint }) => endpoint),
  ];
  for (const key of used) {
    if (key !== undefined && !endpoints.some((endpoint) => endpoint.key === key))
      problems.push(`there is no endpoint ${key}`);
  }
  return problems;
}

function remoteProblems({ remotes = [], environment }: Manifest): string[] {
  const problems: string[] = [];
  for (const { key, baseUrl, operations = [], storage, auth } of remotes) {
    if (!/^https:\/\/[^/\s]+$/.test(String(baseUrl))) {
      problems.push(`the URL of ${key} is not https without a slash at the end`);
    }
    if (!operations.includes('compute')) problems.push(`${key} does not declare compute`);
    if (operations.includes('storage') && storage?.inScopeEUD === undefined) {
      problems.push(`${key} stores and does not say whether end-user data is in it`);
    }
    if (!operations.includes('storage')) problems.push(`${key} does not declare that it stores`);
    if (auth?.appSystemToken?.enabled) problems.push(`${key} gets the app's own token`);
  }
  const declared = environment?.variables?.some((each) => typeof each === 'object' && each.key === 'REMOTE_BASE_URL');
  if (!declared) problems.push('REMOTE_BASE_URL has no default');
  return problems;
}
