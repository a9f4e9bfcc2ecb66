import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import { type HttpServer, listenOnLoopback } from '../http-server.ts';
import { isObject, parseJson } from '../json.ts';
import { JqlError, parseJql } from './jql.ts';
import type { Person } from './model.ts';
import { createRepresentations } from './representations.ts';
import type { Site } from './site.ts';

/** One answer: the status and the body. `retryAfterS` becomes the header. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterS?: number;
}

interface Ask {
  readonly site: Site;
  readonly viewer: Person;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

const MISSING: Answer = {
  status: 404,
  body: { errorMessages: ['Issue does not exist or you do not have permission to see it.'], errors: {} },
};
const UNAUTHORIZED: Answer = { status: 401, body: { code: 401, message: 'Unauthorized' } };
const NO_SCOPE: Answer = { status: 403, body: { code: 403, message: 'Forbidden; scope does not match' } };
const NOT_FOUND: Answer = { status: 404, body: { code: 404, message: 'Not Found' } };
const badRequest = (message: string): Answer => ({ status: 400, body: { errorMessages: [message], errors: {} } });

const MAX_PAGE = 100;
const MAX_BODY_CHARS = 100_000;
const count = (value: string | undefined, fallback: number): number => {
  const parsed = Number(value ?? fallback);
  return Number.isInteger(parsed) && parsed >= 0 ? parsed : fallback;
};
const list = (value: string | undefined): readonly string[] => (value ?? '').split(',').filter((one) => one !== '');

function comments(ask: Ask, idOrKey: string): Answer {
  const item = ask.site.records.visible(ask.viewer, idOrKey);
  if (!item) return MISSING;
  const startAt = count(ask.query.startAt, 0);
  const maxResults = Math.min(count(ask.query.maxResults, 50), MAX_PAGE);
  const ordered = ask.query.orderBy === '-created' ? item.comments.toReversed() : item.comments;
  const { comment } = createRepresentations(ask.site.records, ask.site.apiBaseUrl);
  const page = ordered.slice(startAt, startAt + maxResults).map(comment);
  return { status: 200, body: { startAt, maxResults, total: item.comments.length, comments: page } };
}

function search(ask: Ask): Answer {
  const jql = ask.query.jql ?? '';
  if (jql.trim() === '')
    return badRequest('Unbounded JQL queries are not allowed here. Please add a search restriction.');
  try {
    const found = ask.site.records.search(ask.viewer, parseJql(jql));
    const from = count(Buffer.from(ask.query.nextPageToken ?? '', 'base64url').toString('utf8') || undefined, 0);
    const size = Math.max(1, Math.min(count(ask.query.maxResults, 50), MAX_PAGE));
    const fields = list(ask.query.fields);
    const { issue } = createRepresentations(ask.site.records, ask.site.apiBaseUrl);
    // Without an explicit list of fields the real endpoint answers with ids alone.
    const issues = found
      .slice(from, from + size)
      .map((item) => (fields.length === 0 || fields[0] === 'id' ? { id: item.id } : issue(ask.viewer, item, fields)));
    const isLast = from + size >= found.length;
    const next = isLast ? {} : { nextPageToken: Buffer.from(String(from + size)).toString('base64url') };
    return { status: 200, body: { issues, isLast, ...next } };
  } catch (error) {
    if (error instanceof JqlError) return badRequest(error.message);
    throw error;
  }
}

function read(ask: Ask): Answer {
  const { site, viewer } = ask;
  const represent = createRepresentations(site.records, site.apiBaseUrl);
  const path = ask.path.replace(/^\/rest\/api\/3/, '');
  if (path === '/myself') return { status: 200, body: represent.person(viewer.accountId) };
  if (path === '/serverInfo') return { status: 200, body: { baseUrl: site.siteUrl, deploymentType: 'Cloud' } };
  if (path === '/search/jql') return search(ask);
  const commentsOf = /^\/issue\/([^/]+)\/comment$/.exec(path)?.[1];
  if (commentsOf !== undefined) return comments(ask, decodeURIComponent(commentsOf));
  const issue = /^\/issue\/([^/]+)$/.exec(path)?.[1];
  if (issue === undefined) return NOT_FOUND;
  const item = site.records.visible(viewer, decodeURIComponent(issue));
  return item ? { status: 200, body: represent.issue(viewer, item, list(ask.query.fields)) } : MISSING;
}

/** Keys of the work items that a request is about, for the traffic rules. */
function keysIn(site: Site, ask: Ask): readonly string[] {
  const named = `${ask.path} ${ask.query.jql ?? ''}`.match(/[A-Z][A-Z0-9_]+-\d+|(?<=\/issue\/)\d+/g) ?? [];
  return named.flatMap((one) => site.records.item(one)?.key ?? []);
}

async function answer(site: Site, ctx: Context, ask: Omit<Ask, 'viewer'>): Promise<Answer & { readonly as?: string }> {
  const token = /^Bearer (.+)$/.exec(ctx.get('authorization'))?.[1];
  const known = token === undefined ? undefined : site.tokens.look(token);
  if (known?.state !== 'valid') return UNAUTHORIZED;
  const viewer = site.records.person(known.accountId);
  const full = { ...ask, viewer };
  const scope = ask.path.endsWith('/myself') ? 'read:jira-user' : 'read:jira-work';
  if (!known.scopes.includes(scope)) return { ...NO_SCOPE, as: viewer.name };
  const gone = new AbortController();
  ctx.res.once('close', () => gone.abort());
  const retryAfterS = await site.traffic.pass(keysIn(site, full), gone.signal);
  if (retryAfterS !== undefined) {
    return { status: 429, body: { message: 'Rate limit exceeded' }, retryAfterS, as: viewer.name };
  }
  return { ...read(full), as: viewer.name };
}

async function bodyQuery(ctx: Context): Promise<Readonly<Record<string, string>>> {
  let text = '';
  for await (const chunk of ctx.req) {
    text += String(chunk);
    if (text.length > MAX_BODY_CHARS) break;
  }
  const body = parseJson(text);
  if (!isObject(body)) return {};
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : String(value)]),
  );
}

export interface RestServer {
  readonly origin: string;
  serve(site: Site): void;
  close(): Promise<void>;
}

/** All sites behind one port, as behind Atlassian's API gateway: `/ex/jira/<cloudId>/rest/api/3/…`. */
export async function startRestServer(port = 0): Promise<RestServer> {
  const sites = new Map<string, Site>();
  const router = new Router();
  const handle = async (ctx: Context): Promise<void> => {
    const [, cloudId = '', path = ''] = /^\/ex\/jira\/([^/]+)(\/.*)$/.exec(ctx.path) ?? [];
    const site = sites.get(cloudId);
    if (!site) {
      ctx.status = 404;
      ctx.body = NOT_FOUND.body;
      return;
    }
    const query = Object.fromEntries(Object.entries(ctx.query).map(([name, value]) => [name, String(value)]));
    const ask = { site, path, query: ctx.method === 'POST' ? { ...query, ...(await bodyQuery(ctx)) } : query };
    const at = Date.now();
    const answered = await answer(site, ctx, ask);
    ctx.status = answered.status;
    ctx.body = answered.body;
    if (answered.retryAfterS !== undefined) ctx.set('Retry-After', String(answered.retryAfterS));
    const token = /^Bearer (.+)$/.exec(ctx.get('authorization'))?.[1];
    site.log({
      at,
      cloudId,
      method: ctx.method,
      path,
      query: ask.query,
      status: answered.status,
      ...(answered.as === undefined ? {} : { as: answered.as }),
      ...(token === undefined ? {} : { token }),
    });
  };
  router.get(/^\/ex\/jira\/.*/, handle);
  router.post(/^\/ex\/jira\/[^/]+\/rest\/api\/3\/search\/jql$/, handle);
  const app = new Koa();
  app.use(router.routes());
  const server: HttpServer = await listenOnLoopback(app.callback(), port);
  return {
    origin: server.origin,
    serve: (site) => void sites.set(site.cloudId, site),
    async close() {
      for (const site of sites.values()) site.traffic.clear();
      await server.close();
    },
  };
}
