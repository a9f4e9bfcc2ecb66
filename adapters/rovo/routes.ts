import type { IncomingMessage } from 'node:http';
import Router, { type RouterContext } from '@koa/router';
import { isDomainError } from '../../core/errors.ts';
import type { Json } from '../../core/message.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { RovoEdge } from './edge.ts';
import type { RequestHeaders } from './headers.ts';
import type { LifecycleHandler } from './lifecycle.ts';

/*
 * POST /rovo/lifecycle and POST /rovo/pre-uninstall. Order matters: the token is proved before the body is read, so
 * that a stranger can make this service neither parse nor buffer anything.
 */

const MAX_BODY_BYTES = 65_536;

export interface RovoRoutesOptions {
  readonly edge: Pick<RovoEdge, 'authenticateLifecycle' | 'lifecycle'>;
  readonly telemetry: Telemetry;
}

/** Undefined as soon as the body turns out too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop must not take the connection down: the refusal goes out over it.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).byteLength;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
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

/** Answers small JSON bodies: 200, 400 (not JSON), 401, 413, 500, 503 with Retry-After. */
export function createRovoRoutes(options: RovoRoutesOptions): Router {
  const { edge, telemetry } = options;

  /** `needsBody`: without it a body that is no JSON counts as none, because the call alone says enough. */
  const route = (handler: LifecycleHandler, needsBody: boolean) => async (ctx: RouterContext) => {
    try {
      const authenticated = await edge.authenticateLifecycle(distinctHeaders(ctx.req));
      const text = await readBody(ctx.req);
      if (text === undefined) return answer(ctx, 413, 'The body is too large');
      const json = parseJson(text);
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
