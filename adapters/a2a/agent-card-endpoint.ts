import { createHash } from 'node:crypto';
import type { Middleware } from 'koa';
import type { JsonObject } from '../../core/message.ts';
import { versionSaid } from './version.ts';

export const AGENT_CARD_PATH = '/.well-known/agent-card.json';
/** The keys that the card is signed with. */
export const KEY_SET_PATH = '/.well-known/jwks.json';

/**
 * Serves the card, and the key set when it is signed, to everybody, with or without `A2A-Version` (8.2, 8.6).
 * A request that says 0.3 gets the legacy card, where there is one. One that says nothing gets the card of 1.0 as long as
 * 1.0 is served: its clients need not say their version here, and those of 0.3 can be told an address or a header.
 * `lastModified` is epoch milliseconds.
 */
export function createAgentCardEndpoint(options: {
  readonly card: JsonObject;
  /** In the form of 0.3. `unsaid`: also for requests that do not say a version. */
  readonly legacy?: { readonly card: JsonObject; readonly unsaid: boolean };
  readonly keySet?: JsonObject;
  readonly lastModified: number;
  readonly maxAgeSeconds: number;
}): Middleware {
  const documents = new Map([[AGENT_CARD_PATH, prepared(options.card)]]);
  const legacyCard = options.legacy && prepared(options.legacy.card);
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
    let document = documents.get(context.path);
    if (document === undefined) return next();
    if (legacyCard !== undefined && context.path === AGENT_CARD_PATH) {
      context.vary('A2A-Version');
      const version = versionSaid(context.headers, context.querystring);
      if (version === '0.3' || (version === undefined && options.legacy?.unsaid)) document = legacyCard;
    }
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
