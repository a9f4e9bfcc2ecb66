import { timingSafeEqual } from 'node:crypto';
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import type { Digest } from '../core/ports/clock.ts';
import type { ReadinessCheck } from './readiness.ts';
import type { ServiceTelemetry } from './telemetry.ts';
import { spanContextOf } from './trace-context.ts';

export interface WebAppOptions {
  readonly telemetry: ServiceTelemetry;
  readonly ready: ReadinessCheck;
  readonly digest: Digest;
  /** Callers are told to come over TLS, so browsers are told not to come otherwise (A2A 1.0, 13.4). */
  readonly https: boolean;
  /** Bearer token of `/metrics` on the public port; absent = 404. */
  readonly opsToken?: string;
  /** In order: the edges' endpoints and routes. */
  readonly edges: readonly Middleware[];
}

function sameText(digest: Digest, a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(digest(a)), Buffer.from(digest(b)));
}

/** The one top handler: whatever an edge did not answer itself becomes a fixed text, and its cause a log line. */
function lastResort(telemetry: ServiceTelemetry): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (error) {
      telemetry.event('error', 'http.failed', { path: context.path.slice(0, 100) }, error);
      if (context.res.headersSent) {
        context.res.destroy();
        return;
      }
      context.status = 500;
      context.body = { error: 'Internal error' };
    }
    if (context.status === 404 && context.body === undefined) {
      context.status = 404;
      context.body = { error: 'Not found' };
    }
  };
}

/** Paths that are written down. What else a path holds may be anything that somebody typed. */
const TRACED = /^\/(?:rovo\/(?:a2a|lifecycle|pre-uninstall)|a2a(?:\/v1)?)(?=\/|$)/;

function traceRequests(telemetry: ServiceTelemetry): Middleware {
  return (context, next) => {
    const [path] = TRACED.exec(context.path) ?? [];
    if (path === undefined) return next();
    const { traceparent, 'x-b3-traceid': b3 } = context.headers;
    const parent = [traceparent, b3].flat().find((text) => spanContextOf(text) !== undefined);
    return telemetry.span('http.request', { parent, fields: () => ({ path }) }, async (span) => {
      await next();
      span.set({ status: context.status });
    });
  };
}

/** A year, of this host alone. */
const strictTransport: Middleware = (context, next) => {
  context.set('Strict-Transport-Security', 'max-age=31536000');
  return next();
};

function metrics(telemetry: ServiceTelemetry): Middleware {
  return async (context) => {
    context.set('Content-Type', telemetry.metricsContentType);
    context.body = await telemetry.metricsText();
  };
}

/** Everything that the public port answers. */
export function createWebApp(options: WebAppOptions): Koa {
  const { telemetry, opsToken, digest } = options;
  const router = new Router();
  router.get('/livez', (context) => {
    context.body = { status: 'ok' };
  });
  router.get('/readyz', async (context) => {
    const reason = await options.ready();
    if (reason !== undefined) context.status = 503;
    context.body = reason === undefined ? { status: 'ready' } : { status: 'not ready', reason };
  });
  if (opsToken !== undefined) {
    router.get(
      '/metrics',
      async (context, next) => {
        if (sameText(digest, context.get('Authorization'), `Bearer ${opsToken}`)) return next();
        context.status = 401;
        context.set('WWW-Authenticate', 'Bearer');
        context.body = { error: 'The operations token is required' };
      },
      metrics(telemetry),
    );
  }
  const app = new Koa();
  app.on('error', (error: unknown) => telemetry.event('warn', 'http.socket_failed', {}, error));
  if (options.https) app.use(strictTransport);
  app.use(lastResort(telemetry));
  app.use(router.routes());
  app.use(traceRequests(telemetry));
  for (const edge of options.edges) app.use(edge);
  return app;
}

/** What OPS_PORT serves on loopback, without a token. */
export function createOpsApp(options: Pick<WebAppOptions, 'telemetry'>): Koa {
  const router = new Router();
  router.get('/metrics', metrics(options.telemetry));
  const app = new Koa();
  app.use(lastResort(options.telemetry));
  app.use(router.routes());
  return app;
}
