import type { Context, Middleware } from 'koa';
import { DomainError } from '../../core/errors.ts';
import type { Operations } from '../../core/operations/operations.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { admit, anonymousError, bodyTooLarge } from './admission.ts';
import { answerJson } from './answer.ts';
import { readBody } from './body.ts';
import { createDispatcher, type StreamReply } from './dispatch.ts';
import type { Edge, Session } from './edge.ts';
import { protocolError, type RpcError, rpcError, severityOf } from './error-table.ts';
import { type StreamTimes, writeEventStream } from './event-stream.ts';

/*
 * One JSON-RPC endpoint over HTTP. What can be refused without the body is, and then the HTTP status says so; from
 * authentication on every answer is a 200, because clients hide a JSON-RPC error behind any other status.
 */

export interface EndpointLimits extends StreamTimes {
  readonly maxBodyBytes: number;
  /** From the end of the headers to the end of the body. */
  readonly bodyTimeoutMs: number;
  /** Requests at once, open streams among them. */
  readonly maxInFlight: number;
  /** How long a refused upload is thrown away before its socket is closed. */
  readonly lingerMs: number;
}

const ENDPOINT_LIMITS = {
  maxBodyBytes: 5 * 1_024 * 1_024,
  bodyTimeoutMs: 30_000,
  maxInFlight: 10_000,
  lingerMs: 2_000,
  heartbeatMs: 4_000,
  openAfterMs: 4_000,
  drainMs: 30_000,
} as const satisfies EndpointLimits;

export interface EndpointOptions {
  /** Served with and without a slash at the end, never redirected. */
  readonly path: string;
  readonly operations: Operations;
  readonly edge: Edge;
  readonly limits?: Partial<EndpointLimits>;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** Aborted when the server stops: streams end cleanly, waits end, new calls are refused. */
  readonly shutdown: AbortSignal;
}

/** Label values of the request metrics. */
interface Served {
  readonly method: string;
  readonly outcome: string;
}

type StopReason = 'client-gone' | 'deadline' | 'shutdown';

export function createA2AEndpoint(options: EndpointOptions): Middleware {
  const { path, edge, telemetry, clock, shutdown } = options;
  const limits: EndpointLimits = { ...ENDPOINT_LIMITS, ...options.limits };
  const linger = { clock, ms: limits.lingerMs };
  const dispatch = createDispatcher(options);
  const running = new Set<(reason: StopReason) => void>();
  shutdown.addEventListener('abort', () => {
    for (const stop of running) stop('shutdown');
  });
  let inFlight = 0;
  let openStreams = 0;

  return async (context, next) => {
    if (context.path !== path && context.path !== `${path}/`) return next();
    const startedAt = clock.now();
    inFlight += 1;
    try {
      const { method, outcome } = await serve(context, startedAt);
      telemetry.count('a2a_requests_total', { edge: edge.name, method, outcome });
      telemetry.observe('a2a_request_seconds', (clock.now() - startedAt) / 1_000, { edge: edge.name, method });
    } catch (error) {
      telemetry.event('error', 'request.failed', { edge: edge.name }, error);
      if (context.res.headersSent) context.res.destroy();
      else await answerError(context, rpcError(error));
    } finally {
      inFlight -= 1;
    }
  };

  async function serve(context: Context, startedAt: number): Promise<Served> {
    const overloaded = shutdown.aborted || inFlight > limits.maxInFlight;
    const admission = await admit(context.req, { edge, maxBodyBytes: limits.maxBodyBytes, overloaded });
    if ('refused' in admission) {
      const severity = 'error' in admission ? severityOf(admission.error) : undefined;
      if (severity !== undefined) {
        telemetry.event(severity, 'authentication.failed', { edge: edge.name }, admission.error);
      }
      await answerJson(context, admission.refused, linger);
      return { method: 'none', outcome: `http-${admission.refused.status}` };
    }
    const body = await readBody(context.req, {
      maxBytes: limits.maxBodyBytes,
      timeoutMs: limits.bodyTimeoutMs,
      clock,
    });
    if ('bytes' in body) {
      const refusal = unreadable(context);
      if (refusal !== undefined) return answerError(context, refusal);
      return answer(context, { session: admission.session, body: body.bytes, startedAt });
    }
    if (body.refused === 'gone') {
      context.respond = false;
      return { method: 'none', outcome: 'client-gone' };
    }
    return answerError(
      context,
      body.refused === 'too-large'
        ? bodyTooLarge(limits.maxBodyBytes)
        : protocolError('INVALID_REQUEST', 'The body did not come in time'),
    );
  }

  async function answerError(context: Context, error: RpcError): Promise<Served> {
    await answerJson(context, { status: 200, json: anonymousError(error) }, linger);
    return { method: 'none', outcome: String(error.code) };
  }

  async function answer(context: Context, request: AuthenticatedRequest): Promise<Served> {
    const controller = new AbortController();
    let stopped: StopReason | undefined;
    const stop = (reason: StopReason) => {
      stopped ??= reason;
      controller.abort();
    };
    running.add(stop);
    context.res.once('close', () => stop('client-gone'));
    // It may have begun while the body came.
    if (shutdown.aborted) stop('shutdown');
    try {
      const reply = await dispatch({
        session: request.session,
        body: request.body,
        headers: context.req.headers,
        query: context.querystring,
        signal: controller.signal,
      });
      if ('json' in reply) {
        await answerJson(context, { status: 200, json: reply.json }, linger);
        return reply;
      }
      const deadlineMs = edge.profile.streamDeadlineMs - (clock.now() - request.startedAt);
      const cancelDeadline = clock.timer(deadlineMs, () => stop('deadline'));
      try {
        return await stream(context, reply, { signal: controller.signal, whyStopped: () => stopped });
      } finally {
        cancelDeadline();
      }
    } finally {
      running.delete(stop);
    }
  }

  async function stream(
    context: Context,
    reply: StreamReply,
    life: { readonly signal: AbortSignal; readonly whyStopped: () => StopReason | undefined },
  ): Promise<Served> {
    const { method } = reply;
    countStreams(1);
    const end = await writeEventStream({
      response: context.res,
      source: reply.frames,
      signal: life.signal,
      clock,
      times: limits,
      lastEvent: (error) => reply.failure(error).json,
    }).finally(() => countStreams(-1));
    if (end.reason === 'refused') {
      const { json, outcome } = reply.failure(end.error);
      await answerJson(context, { status: 200, json }, linger);
      return { method, outcome };
    }
    context.respond = false;
    const reason = end.reason === 'stopped' ? (life.whyStopped() ?? 'stopped') : end.reason;
    if (reason === 'slow-reader') telemetry.event('warn', 'stream.cut', { edge: edge.name, method });
    telemetry.count('a2a_stream_ends_total', { edge: edge.name, reason });
    return { method, outcome: reason };
  }

  function countStreams(change: 1 | -1): void {
    openStreams += change;
    telemetry.gauge('a2a_open_streams', openStreams, { edge: edge.name });
  }
}

interface AuthenticatedRequest {
  readonly session: Session;
  readonly body: Uint8Array;
  /** By our clock, when the headers were there. */
  readonly startedAt: number;
}

/** A body that is not JSON by its own account is not parsed (5.4). */
function unreadable(context: Context): RpcError | undefined {
  const [mediaType = '', ...parameters] = context.get('Content-Type').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((name) => name.startsWith('charset='));
  const isJson = mediaType.trim() === 'application/json' && /^(charset="?utf-8"?)?$/.test(charset ?? '');
  const encoding = context.get('Content-Encoding').toLowerCase();
  if (isJson && (encoding === '' || encoding === 'identity')) return undefined;
  return rpcError(
    new DomainError('CONTENT_TYPE_NOT_SUPPORTED', 'The body must be uncompressed application/json in UTF-8'),
  );
}
