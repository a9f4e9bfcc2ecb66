import type { Context, Middleware } from 'koa';
import type { Clock } from '../../core/ports/clock.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { admit, bodyTooLarge, logRefusal } from './admission.ts';
import { answerJson, whenTaken } from './answer.ts';
import type { Exchange, StreamReply } from './binding.ts';
import { readBody } from './body.ts';
import type { Session } from './edge.ts';
import { protocolError, type WireError, wireError } from './error-table.ts';
import { type StreamTimes, writeEventStream } from './event-stream.ts';
import { createHttpJsonBinding } from './http-json-binding.ts';
import { createJsonRpcBinding } from './json-rpc-binding.ts';
import { createLoadGate, type LoadGate, type Place } from './load-gate.ts';
import { createPerform } from './perform.ts';
import type { HandlerOptions } from './request-handler.ts';

/*
 * The HTTP of one edge, whatever its binding. What can be refused without the body is, and then the HTTP status says so;
 * what the status of later answers is, the binding says.
 */

export interface EndpointLimits extends StreamTimes {
  readonly maxBodyBytes: number;
  /** From the end of the headers to the end of the body. */
  readonly bodyTimeoutMs: number;
  /** How long a client may take for an answer that is no stream. */
  readonly answerMs: number;
}

export const ENDPOINT_LIMITS = {
  maxBodyBytes: 5 * 1_024 * 1_024,
  bodyTimeoutMs: 30_000,
  answerMs: 120_000,
  lingerMs: 2_000,
  heartbeatMs: 4_000,
  openAfterMs: 4_000,
  drainMs: 30_000,
} as const satisfies EndpointLimits;

export interface EndpointOptions extends HandlerOptions {
  /** Of JSON-RPC. */
  readonly path: string;
  /** Of HTTP+JSON; absent: that binding is off. */
  readonly httpJsonPath?: string;
  readonly limits?: Partial<EndpointLimits>;
  /** Shared by the edges of a process. Default: one of its own, with the default limits. */
  readonly gate?: LoadGate;
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
  const { edge, telemetry, clock, shutdown, path, httpJsonPath } = options;
  const limits: EndpointLimits = { ...ENDPOINT_LIMITS, ...options.limits };
  const linger = { clock, ms: limits.lingerMs };
  const perform = createPerform(options);
  const common = { edge, perform, telemetry };
  const bindings = [
    createJsonRpcBinding({ ...common, path }),
    ...(httpJsonPath === undefined ? [] : [createHttpJsonBinding({ ...common, path: httpJsonPath })]),
  ];
  const running = new Set<(reason: StopReason) => void>();
  shutdown.addEventListener('abort', () => {
    for (const stop of running) stop('shutdown');
  });
  const gate = options.gate ?? createLoadGate({ telemetry });

  return async (context, next) => {
    const { method, path: asked, querystring: query } = context;
    const head = { method, path: asked, query, headers: context.req.headers };
    let exchange: Exchange | undefined;
    for (const binding of bindings) exchange ??= binding.open(head);
    if (exchange === undefined) return next();
    const startedAt = clock.now();
    let place: Place | undefined;
    try {
      const entered = exchange.refused ?? enter();
      if ('place' in entered) place = entered.place;
      const { method, outcome } =
        'place' in entered
          ? await serve(context, exchange, { place: entered.place, startedAt })
          : await refuse(context, exchange, entered);
      telemetry.count('a2a_requests_total', { edge: edge.name, method, outcome });
      telemetry.observe('a2a_request_seconds', (clock.now() - startedAt) / 1_000, { edge: edge.name, method });
    } catch (error) {
      telemetry.event('error', 'request.failed', { edge: edge.name }, error);
      if (context.res.headersSent) context.res.destroy();
      else await answerError(context, exchange, wireError(error));
    } finally {
      place?.dropBody();
      // An answer that nobody reads lies in memory.
      if (place) whenTaken(context.res, { clock, ms: limits.answerMs }, place.leave);
    }
  };

  function enter(): { readonly place: Place } | { readonly error: WireError } {
    try {
      return { place: gate.enter(edge.name) };
    } catch (error) {
      return { error: wireError(error) };
    }
  }

  async function serve(context: Context, exchange: Exchange, { place, startedAt }: Entered): Promise<Served> {
    const stopping = shutdown.aborted;
    const admission = await admit(context.req, { edge, maxBodyBytes: limits.maxBodyBytes, stopping });
    if ('refused' in admission) {
      const { refused: error, headers, cause } = admission;
      if (cause !== undefined) logRefusal(telemetry, edge, context.req.headers, cause);
      return refuse(context, exchange, { error, headers });
    }
    const { session } = admission;
    try {
      place.callerIs(session.caller.owner);
    } catch (error) {
      return answerError(context, exchange, wireError(error));
    }
    const body = await readBody(context.req, {
      maxBytes: limits.maxBodyBytes,
      timeoutMs: limits.bodyTimeoutMs,
      clock,
      hold: place.holdBody,
    });
    if ('bytes' in body) {
      const fault = exchange.unreadable(body.bytes);
      if (fault !== undefined) return answerError(context, exchange, fault);
      return answer(context, exchange, { session, body: body.bytes, place, startedAt });
    }
    switch (body.refused) {
      case 'gone':
        context.respond = false;
        return { method: 'none', outcome: 'client-gone' };
      case 'no-room':
        return answerError(context, exchange, wireError(body.error));
      case 'too-large':
        return answerError(context, exchange, bodyTooLarge(limits.maxBodyBytes));
      case 'too-slow':
        return answerError(context, exchange, protocolError('BODY_TOO_SLOW', 'The body did not come in time'));
    }
  }

  /** Before anybody was let in. */
  async function refuse(
    context: Context,
    exchange: Exchange,
    { error, headers }: { readonly error: WireError; readonly headers?: Record<string, string> },
  ): Promise<Served> {
    const refusal = exchange.refusal(error, false);
    await answerJson(context, { ...refusal, headers: { ...refusal.headers, ...headers } }, linger);
    return { method: 'none', outcome: `http-${refusal.status}` };
  }

  async function answerError(context: Context, exchange: Exchange, error: WireError): Promise<Served> {
    await answerJson(context, exchange.refusal(error, true), linger);
    return { method: 'none', outcome: String(error.jsonRpc) };
  }

  async function answer(context: Context, exchange: Exchange, request: AuthenticatedRequest): Promise<Served> {
    const controller = new AbortController();
    let stopped: StopReason | undefined;
    const stop = (reason: StopReason) => {
      // Every response closes in the end; and an abort without a reason makes an error with a stack.
      if (stopped !== undefined || !running.has(stop)) return;
      stopped = reason;
      controller.abort(reason);
    };
    running.add(stop);
    context.res.once('close', () => stop('client-gone'));
    // It may have begun while the body came.
    if (shutdown.aborted) stop('shutdown');
    try {
      const { session, body, place } = request;
      const { becomeStream } = place;
      const reply = await exchange.perform({ session, body, signal: controller.signal, becomeStream });
      if ('answer' in reply) {
        await answerJson(context, reply.answer, linger);
        return reply;
      }
      place.dropBody();
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
    const end = await writeEventStream({
      response: context.res,
      source: reply.frames,
      signal: life.signal,
      clock,
      times: limits,
      lastEvent: (error) => {
        const { answer, event } = reply.failure(error);
        return { json: answer.json, ...(event === undefined ? {} : { event }) };
      },
    });
    if (end.reason === 'refused') {
      const { answer, outcome } = reply.failure(end.error);
      await answerJson(context, answer, linger);
      return { method, outcome };
    }
    context.respond = false;
    const reason = end.reason === 'stopped' ? (life.whyStopped() ?? 'stopped') : end.reason;
    if (reason === 'slow-reader') telemetry.event('warn', 'stream.cut', { edge: edge.name, method });
    telemetry.count('a2a_stream_ends_total', { edge: edge.name, reason });
    return { method, outcome: reason };
  }
}

interface Entered {
  readonly place: Place;
  /** By our clock, when the headers were there. */
  readonly startedAt: number;
}

interface AuthenticatedRequest extends Entered {
  readonly session: Session;
  readonly body: Uint8Array;
}
