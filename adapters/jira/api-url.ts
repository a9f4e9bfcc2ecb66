import { route } from '@forge/api';

/** A path with its query, built by the `route` template so that no parameter can change the path. */
export interface ApiPath {
  readonly value: string;
}

const API_PREFIX = '/rest/api/3/';
const ISSUE_ID = /^\d{1,19}$/;
const ISSUE_KEY = /^[A-Z][A-Z0-9_]{1,254}-\d{1,19}$/;
const FIELD = /^[A-Za-z][A-Za-z0-9_.]{0,99}$/;
const MAX_FIELDS = 50;
const MAX_JQL_CHARS = 4_000;

export function isIssueId(id: string): boolean {
  return ISSUE_ID.test(id);
}

/** Undefined when the id is neither a number nor a key, or a field has no field's name. */
export function issuePath(id: string, fields: readonly string[]): ApiPath | undefined {
  if (!isIssueIdOrKey(id) || !areFields(fields)) return undefined;
  return route`/rest/api/3/issue/${id}?fields=${fields.join(',')}`;
}

export function commentsPath(id: string, startAt: number, maxResults: number): ApiPath | undefined {
  if (!isIssueIdOrKey(id)) return undefined;
  return route`/rest/api/3/issue/${id}/comment?startAt=${startAt}&maxResults=${maxResults}&orderBy=${'-created'}`;
}

export function serverInfoPath(): ApiPath {
  return route`/rest/api/3/serverInfo`;
}

interface SearchPage {
  readonly fields: readonly string[];
  readonly maxResults: number;
  readonly nextPageToken?: string;
}

export function searchPath(jql: string, page: SearchPage): ApiPath | undefined {
  if (jql.trim() === '' || jql.length > MAX_JQL_CHARS || !areFields(page.fields)) return undefined;
  const query = new URLSearchParams({ jql, fields: page.fields.join(','), maxResults: String(page.maxResults) });
  if (page.nextPageToken !== undefined) query.set('nextPageToken', page.nextPageToken);
  return route`/rest/api/3/search/jql?${query}`;
}

function isIssueIdOrKey(id: unknown): id is string {
  return typeof id === 'string' && (ISSUE_ID.test(id) || ISSUE_KEY.test(id));
}

function areFields(fields: readonly string[]): boolean {
  return fields.length > 0 && fields.length <= MAX_FIELDS && fields.every((field) => FIELD.test(field));
}

/**
 * The API base of a tenant, undefined when it is not one that a user's token may be sent to: https (http on loopback
 * only) and a host on the allow-list. An entry without a port allows the default port, on loopback any.
 */
export function apiBase(text: string, allowedHosts: readonly string[]): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const base = new URL(text);
  const loopback = isLoopback(base.hostname);
  if (base.protocol !== 'https:' && !(base.protocol === 'http:' && loopback)) return undefined;
  if (base.username !== '' || base.password !== '' || base.search !== '' || base.hash !== '') return undefined;
  const allowed = allowedHosts.includes(base.host) || (loopback && allowedHosts.includes(base.hostname));
  return allowed ? base : undefined;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
}

/** The last word on where a token goes: undefined unless the URL is the path below the base, letter for letter. */
export function apiUrl(base: URL, path: ApiPath): URL | undefined {
  const prefix = base.pathname.replace(/\/+$/, '');
  const [pathname = ''] = path.value.split('?');
  const url = new URL(`${base.origin}${prefix}${path.value}`);
  const intact = url.origin === base.origin && url.hash === '' && url.pathname === prefix + pathname;
  return intact && pathname.startsWith(API_PREFIX) ? url : undefined;
}
