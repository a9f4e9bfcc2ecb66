import type { IncomingMessage } from 'node:http';
import Router, { type RouterContext } from '@koa/router';
import { isDomainError } from '../../core/errors.ts';
import type { Json } from '../../core/message.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { RovoEdge } from './edge.ts';
import type { RequestHeaders } from './headers.ts';
import type { LifecycleHandler } from './lifecycle.ts';

/*
 * POST /rovo/lifecycle and POST /rovo/pre-uninstall. Order matters: the token is proved before the body is read, so
 * that a stranger can make this service neither parse nor buffer anything.
 */

const MAX_BODY_BYTES = 65_536;
/** Jira gives up after 5 s: whoever still sends by then only holds a connection. */
const BODY_TIMEOUT_MS = 30_000;

export interface RovoRoutesOptions {
  readonly edge: Pick<RovoEdge, 'authenticateLifecycle' | 'lifecycle'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** `gone`: the client has closed, nobody waits for an answer. */
type Body = { readonly text: string } | { readonly refused: 'too-large' | 'too-slow' | 'gone' };

/** Never rejects. What comes after a refusal is dropped: the refusal goes out over the connection, then it dies. */
function readBody(request: IncomingMessage, clock: Clock): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
    return Promise.resolve({ refused: 'too-large' });
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes > MAX_BODY_BYTES) settle({ refused: 'too-large' });
      else chunks.push(chunk);
    };
    const complete = () => settle({ text: Buffer.concat(chunks).toString('utf8') });
    const gone = () => settle({ refused: 'gone' });
    const settle = (body: Body) => {
      cancel();
      request.off('data', take).off('end', complete).off('close', gone);
      resolve(body);
    };
    const cancel = clock.timer(BODY_TIMEOUT_MS, () => settle({ refused: 'too-slow' }));
    // Without a listener a broken upload would take the process down; `close` follows and is what counts.
    request.on('error', () => undefined);
    request.on('data', take).on('end', complete).on('close', gone);
    if (request.destroyed) gone();
  });
}

function parseJson(text: string): { readonly value: Json | undefined } | undefined {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return undefined;
  }
}

/** Node's joined headers hide a second Authorization; the distinct ones do not. */
function distinctHeaders(request: IncomingMessage): RequestHeaders {
  return request.headersDistinct;
}

function answer(ctx: RouterContext, status: number, error: string): void {
  ctx.status = status;
  ctx.body = { error };
  // What is left of an unread body dies with the connection.
  ctx.set('Connection', 'close');
}

function refuseBody(ctx: RouterContext, reason: 'too-large' | 'too-slow' | 'gone'): void {
  if (reason === 'gone') ctx.respond = false;
  else if (reason === 'too-slow') answer(ctx, 408, 'The body took too long');
  else answer(ctx, 413, 'The body is too large');
}

function answerError(ctx: RouterContext, error: unknown, telemetry: Telemetry): void {
  if (isDomainError(error, 'UNAUTHENTICATED')) {
    answer(ctx, 401, error.message);
    ctx.set('WWW-Authenticate', 'Bearer');
    return;
  }
  if (isDomainError(error, 'AUTHENTICATION_UNAVAILABLE') || isDomainError(error, 'STORE_UNAVAILABLE')) {
    answer(ctx, 503, error.message);
    ctx.set('Retry-After', String(Math.ceil((error.retryAfterMs ?? 1_000) / 1000)));
    return;
  }
  telemetry.event('error', 'rovo.lifecycle.failed', {}, error);
  answer(ctx, 500, 'Internal error');
}

/** Answers small JSON bodies: 200, 400 (not JSON), 401, 408, 413, 500, 503 with Retry-After. */
export function createRovoRoutes(options: RovoRoutesOptions): Router {
  const { edge, clock, telemetry } = options;

  /** `needsBody`: without it a body that is no JSON counts as none, because the call alone says enough. */
  const route = (handler: LifecycleHandler, needsBody: boolean) => async (ctx: RouterContext) => {
    try {
      const authenticated = await edge.authenticateLifecycle(distinctHeaders(ctx.req));
      const read = await readBody(ctx.req, clock);
      if ('refused' in read) return refuseBody(ctx, read.refused);
      const json = parseJson(read.text);
      if (json === undefined && needsBody) return answer(ctx, 400, 'The body is not JSON');
      const { status, body } = await handler(authenticated, json?.value);
      ctx.status = status;
      ctx.body = body;
    } catch (error) {
      answerError(ctx, error, telemetry);
    }
  };

  return new Router()
    .post('/rovo/lifecycle', route(edge.lifecycle.installed, true))
    .post('/rovo/pre-uninstall', route(edge.lifecycle.preUninstall, false));
}
