import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { HttpEndpoint } from '../adapters/a2a/http.ts';
import { targetOf } from '../adapters/a2a/request-target.ts';
import { withoutSpan } from '../core/ports/telemetry.ts';
import type { ServiceTelemetry } from './telemetry.ts';
import { spanContextOf } from './trace-context.ts';

/*
 * The way of a request to whoever answers it: the edges' endpoints first, then the application with everything else. The
 * endpoints stand in front of it because Koa's context, its getters and the chain of middlewares cost a request about as
 * much as all that an endpoint does with HTTP (docs/adr/0013). What the application does for every request is done here for
 * theirs.
 */

export interface WebListenerOptions {
  readonly telemetry: ServiceTelemetry;
  readonly endpoints: readonly HttpEndpoint[];
  /** Callers are told to come over TLS, so browsers are told not to come otherwise (A2A 1.0, 13.4). */
  readonly https: boolean;
  /** Never rejects. */
  readonly app: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/** A year, of this host alone. */
const STRICT_TRANSPORT = 'max-age=31536000';
const INTERNAL_ERROR = '{"error":"Internal error"}';
/** Paths that are written down. What else a path holds may be anything that somebody typed. */
const TRACED = /^\/(?:rovo\/(?:a2a|lifecycle|pre-uninstall)|a2a(?:\/v1)?)(?=\/|$)/;

export function createWebListener(options: WebListenerOptions): RequestListener {
  const { telemetry, endpoints, https, app } = options;

  /** Of an endpoint's response; the application looks after its own. */
  function closed(this: ServerResponse): void {
    const error = this.socket?.errored;
    if (error) telemetry.event('warn', 'http.socket_failed', {}, error);
  }

  function failed(error: unknown, { url = '' }: IncomingMessage, response: ServerResponse): void {
    telemetry.event('error', 'http.failed', { path: targetOf(url).path.slice(0, 100) }, error);
    if (response.headersSent) response.destroy();
    else response.writeHead(500, { 'Content-Type': 'application/json; charset=utf-8' }).end(INTERNAL_ERROR);
  }

  function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (https) response.setHeader('Strict-Transport-Security', STRICT_TRANSPORT);
    for (const endpoint of endpoints) {
      const answered = endpoint(request, response);
      if (answered === undefined) continue;
      response.on('close', closed);
      return answered;
    }
    return app(request, response);
  }

  function traced(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path] = TRACED.exec(targetOf(request.url ?? '').path) ?? [];
    if (path === undefined) return answer(request, response);
    const { traceparent, 'x-b3-traceid': b3 } = request.headers;
    const parent = [traceparent, b3].flat().find((text) => spanContextOf(text) !== undefined);
    return telemetry.span('http.request', { parent, fields: () => ({ path }) }, async (span) => {
      await answer(request, response);
      span.set({ status: response.statusCode });
    });
  }

  // Nobody records traces most of the time, and then none of that is asked for.
  const respond = telemetry.span === withoutSpan ? answer : traced;
  return (request, response) => {
    try {
      respond(request, response).catch((error: unknown) => failed(error, request, response));
    } catch (error) {
      // Thrown before there was a promise: it would end the process.
      failed(error, request, response);
    }
  };
}
