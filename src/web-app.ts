import { timingSafeEqual } from 'node:crypto';
import type { RequestListener } from 'node:http';
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import type { Digest } from '../core/ports/clock.ts';
import type { ReadinessCheck } from './readiness.ts';
import type { ServiceTelemetry } from './telemetry.ts';
import { createWebListener, type WebListenerOptions } from './web-listener.ts';

export interface WebAppOptions extends Omit<WebListenerOptions, 'app'> {
  readonly ready: ReadinessCheck;
  readonly digest: Digest;
  /** Bearer token of `/metrics` on the public port; absent = 404. */
  readonly opsToken?: string;
  /** In order: what the edges answer beside their endpoints. */
  readonly middlewares: readonly Middleware[];
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

function metrics(telemetry: ServiceTelemetry): Middleware {
  return async (context) => {
    context.set('Content-Type', telemetry.metricsContentType);
    context.body = await telemetry.metricsText();
  };
}

/** Everything that the public port answers. */
export function createWebApp(options: WebAppOptions): RequestListener {
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
  app.use(lastResort(telemetry));
  app.use(router.routes());
  for (const middleware of options.middlewares) app.use(middleware);
  return createWebListener({ ...options, app: app.callback() });
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
