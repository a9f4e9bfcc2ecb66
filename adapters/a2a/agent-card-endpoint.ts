import { createHash } from 'node:crypto';
import type { Middleware } from 'koa';
import type { JsonObject } from '../../core/message.ts';

export const AGENT_CARD_PATH = '/.well-known/agent-card.json';

/** Serves the card to everybody, with or without `A2A-Version` (8.2). `lastModified` is epoch milliseconds. */
export function createAgentCardEndpoint(options: {
  readonly card: JsonObject;
  readonly lastModified: number;
  readonly maxAgeSeconds: number;
}): Middleware {
  const body = JSON.stringify(options.card);
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': `public, max-age=${options.maxAgeSeconds}`,
    ETag: `"${createHash('sha256').update(body).digest('base64url')}"`,
    'Last-Modified': new Date(options.lastModified).toUTCString(),
  };
  return async (context, next) => {
    if (context.path !== AGENT_CARD_PATH) return next();
    if (context.method !== 'GET' && context.method !== 'HEAD') {
      context.status = 405;
      context.set('Allow', 'GET, HEAD');
      return;
    }
    context.status = 200;
    context.set(headers);
    if (context.fresh) {
      context.status = 304;
      return;
    }
    context.body = body;
  };
}
