import { createHash } from 'node:crypto';
import type { Middleware } from 'koa';
import type { JsonObject } from '../../core/message.ts';

export const AGENT_CARD_PATH = '/.well-known/agent-card.json';
/** The keys that the card is signed with. */
export const KEY_SET_PATH = '/.well-known/jwks.json';

/**
 * Serves the card, and the key set when it is signed, to everybody, with or without `A2A-Version` (8.2, 8.6).
 * `lastModified` is epoch milliseconds.
 */
export function createAgentCardEndpoint(options: {
  readonly card: JsonObject;
  readonly keySet?: JsonObject;
  readonly lastModified: number;
  readonly maxAgeSeconds: number;
}): Middleware {
  const documents = new Map([[AGENT_CARD_PATH, prepared(options.card)]]);
  if (options.keySet) documents.set(KEY_SET_PATH, prepared(options.keySet));

  function prepared(document: JsonObject) {
    const body = JSON.stringify(document);
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': `public, max-age=${options.maxAgeSeconds}`,
      ETag: `"${createHash('sha256').update(body).digest('base64url')}"`,
      'Last-Modified': new Date(options.lastModified).toUTCString(),
    };
    return { body, headers };
  }

  return async (context, next) => {
    const document = documents.get(context.path);
    if (document === undefined) return next();
    if (context.method !== 'GET' && context.method !== 'HEAD') {
      context.status = 405;
      context.set('Allow', 'GET, HEAD');
      return;
    }
    context.status = 200;
    context.set(document.headers);
    if (context.fresh) {
      context.status = 304;
      return;
    }
    context.body = document.body;
  };
}
