import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/ports/clock.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { Registry } from '../../core/registry.ts';
import { createRounds } from '../../core/runtime/rounds.ts';
import { admit, bodyTooLarge, logRefusal, overloadedError } from './admission.ts';
import { answerJson, whenTaken } from './answer.ts';
import type { Exchange, StreamReply } from './binding.ts';
import { bodyInHand, readBody } from './body.ts';
import type { Session } from './edge.ts';
import { ENDPOINT_LIMITS, type EndpointLimits } from './endpoint-limits.ts';
import { protocolError, type WireError, wireError } from './error-table.ts';
import { type Beating, type StreamEnd, writeEventStream } from './event-stream.ts';
import type { Http, HttpEndpoint } from './http.ts';
import { createHttpJsonBinding } from './http-json-binding.ts';
import { createJsonRpcBinding } from './json-rpc-binding.ts';
import { Lifespan } from './lifespan.ts';
import { createLoadGate, type LoadGate, type Place } from './load-gate.ts';
import { createPerform } from './perform.ts';
import { closeWithConnection } from './queued-response.ts';
import type { HandlerOptions } from './request-handler.ts';
import { headOf } from './request-target.ts';

/*
 * The HTTP of one edge, whatever its binding. What can be refused without the body is, and then the HTTP status says so;
 * what the status of later answers is, the binding says.
 */

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

/** `stream`: one is open, and does the rest by itself. */
type Outcome = Served | 'stream';

export function createA2AEndpoint(options: EndpointOptions): HttpEndpoint {
  const { edge, telemetry, clock, shutdown, path, httpJsonPath } = options;
  const limits: EndpointLimits = { ...ENDPOINT_LIMITS, ...options.limits };
  const linger = { clock, ms: limits.lingerMs };
  const taking = { clock, ms: limits.answerMs };
  const reading = { maxBytes: limits.maxBodyBytes, timeoutMs: limits.bodyTimeoutMs, clock };
  const perform = createPerform(options);
  const bindings = [createJsonRpcBinding({ edge, perform, telemetry, path })];
  if (httpJsonPath !== undefined)
    bindings.push(createHttpJsonBinding({ edge, perform, telemetry, path: httpJsonPath }));
  const running = new Registry<Lifespan>();
  shutdown.addEventListener('abort', () => {
    for (const life of running.values()) life.stop('shutdown');
  });
  const heartbeats = createRounds<Beating>(clock, { intervalMs: limits.heartbeatMs, visit: (each) => each.beat() });
  const gate = options.gate ?? createLoadGate({ telemetry });

  return (request, response) => {
    const head = headOf(request);
    for (const binding of bindings) {
      const exchange = binding.open(head);
      if (exchange !== undefined) return attend({ request, response, bodyCame: false }, exchange);
    }
    return undefined;
  };

  async function attend(http: Http, exchange: Exchange): Promise<void> {
    const { response } = http;
    closeWithConnection(response);
    const startedAt = clock.now();
    let place: Place | undefined;
    try {
      const entered = exchange.refused ?? enter();
      if ('place' in entered) place = entered.place;
      // Whether the body came along is known when the parser has gone on; if it did, the connection is used again.
      else await undefined;
      const served =
        'place' in entered
          ? await serve(http, exchange, { place: entered.place, startedAt })
          : await refuse(http, exchange, entered);
      if (served === 'stream') place = undefined;
      else account(served, startedAt);
    } catch (error) {
      if (broken(response, error)) return;
      await answerError(http, exchange, wireError(error));
    } finally {
      // Several kilobytes of tokens, which lie with the connection otherwise, for as long as it is open.
      http.request.headers = {};
      http.request.rawHeaders = [];
      place?.dropBody();
      // An answer that nobody reads lies in memory.
      if (place) whenTaken(response, taking, place);
    }
  }

  function account({ method, outcome }: Served, startedAt: number): void {
    telemetry.count('a2a_requests_total', { edge: edge.name, method, outcome });
    telemetry.observe('a2a_request_seconds', (clock.now() - startedAt) / 1_000, { edge: edge.name, method });
  }

  /** A fault of ours. Answers whether it is too late to say so. */
  function broken(response: ServerResponse, error: unknown): boolean {
    telemetry.event('error', 'request.failed', { edge: edge.name }, error);
    if (response.headersSent) response.destroy();
    return response.headersSent;
  }

  function enter(): { readonly place: Place } | { readonly error: WireError } {
    try {
      return { place: gate.enter(edge.name) };
    } catch (error) {
      return { error: wireError(error) };
    }
  }

  async function serve(http: Http, exchange: Exchange, entered: Entered): Promise<Outcome> {
    const { request } = http;
    const { place } = entered;
    if (shutdown.aborted) return refuse(http, exchange, { error: overloadedError() });
    const admission = await admit(request, edge, limits.maxBodyBytes);
    if ('refused' in admission) {
      const { refused: error, headers, cause } = admission;
      if (cause !== undefined) logRefusal(telemetry, edge, request.headers, cause);
      return refuse(http, exchange, { error, headers });
    }
    const { session } = admission;
    try {
      place.callerIs(session.caller.owner);
    } catch (error) {
      return answerError(http, exchange, wireError(error));
    }
    const body = bodyInHand(request, limits.maxBodyBytes, place) ?? (await readBody(request, reading, place));
    if ('bytes' in body) {
      http.bodyCame = true;
      const fault = exchange.unreadable(body.bytes);
      if (fault !== undefined) return answerError(http, exchange, fault);
      return answer(http, exchange, { place, startedAt: entered.startedAt, session, body: body.bytes });
    }
    switch (body.refused) {
      case 'gone':
        return { method: 'none', outcome: 'client-gone' };
      case 'no-room':
        return answerError(http, exchange, wireError(body.error));
      case 'too-large':
        return answerError(http, exchange, bodyTooLarge(limits.maxBodyBytes));
      case 'too-slow':
        return answerError(http, exchange, protocolError('BODY_TOO_SLOW', 'The body did not come in time'));
    }
  }

  /** Before anybody was let in. */
  async function refuse(http: Http, exchange: Exchange, { error, headers }: Refused): Promise<Served> {
    const refusal = exchange.refusal(error, false);
    await answerJson(http, { ...refusal, headers: { ...refusal.headers, ...headers } }, linger);
    return { method: 'none', outcome: `http-${refusal.status}` };
  }

  async function answerError(http: Http, exchange: Exchange, error: WireError): Promise<Served> {
    await answerJson(http, exchange.refusal(error, true), linger);
    return { method: 'none', outcome: String(error.jsonRpc) };
  }

  async function answer(http: Http, exchange: Exchange, request: AuthenticatedRequest): Promise<Outcome> {
    const life = new Lifespan(running);
    http.response.on('close', () => life.stop('client-gone'));
    // It may have begun while the body came.
    if (shutdown.aborted) life.stop('shutdown');
    let outcome: Outcome | undefined;
    try {
      const { session, body, place } = request;
      const reply = await exchange.perform({ session, body, life, place });
      if ('answer' in reply) await answerJson(http, reply.answer, linger);
      outcome = 'answer' in reply ? reply : await stream(http, reply, { life, ...request });
      return outcome;
    } finally {
      if (outcome !== 'stream') life.end();
    }
  }

  /**
   * Resolves as soon as the stream is open. From there on it lives by itself: everything that waits for its end would be
   * kept in memory as long as it lasts, the middlewares, the message and the caller's token among it.
   */
  async function stream(http: Http, reply: StreamReply, { life, place, startedAt }: Streaming): Promise<Outcome> {
    const { response } = http;
    const { method } = reply;
    place.dropBody();
    const deadlineMs = edge.profile.streamDeadlineMs - (clock.now() - startedAt);
    const cancelDeadline = clock.timer(deadlineMs, () => life.stop('deadline'));
    const opened = await writeEventStream({
      response,
      source: reply.frames,
      signal: life.signal,
      clock,
      times: limits,
      heartbeats,
      lastEvent: (error) => {
        const { answer, event } = reply.failure(error);
        return { json: answer.json, ...(event === undefined ? {} : { event }) };
      },
      ended: (end) => {
        cancelDeadline();
        // Nobody listens any more, and an abort costs as much as a write.
        life.end();
        void end
          .then(({ reason }) => account({ method, outcome: streamEnded(method, reason, life) }, startedAt))
          .catch((error: unknown) => broken(response, error))
          .finally(() => whenTaken(response, taking, place));
      },
    });
    if (opened === 'open') return 'stream';
    cancelDeadline();
    const { answer, outcome } = reply.failure(opened.refused);
    await answerJson(http, answer, linger);
    return { method, outcome };
  }

  function streamEnded(method: string, end: StreamEnd['reason'], life: Lifespan): string {
    const reason = end === 'stopped' ? (life.reason ?? 'stopped') : end;
    if (reason === 'slow-reader') telemetry.event('warn', 'stream.cut', { edge: edge.name, method });
    telemetry.count('a2a_stream_ends_total', { edge: edge.name, reason });
    return reason;
  }
}

type Refused = NonNullable<Exchange['refused']>;

interface Entered {
  readonly place: Place;
  /** By our clock, when the headers were there. */
  readonly startedAt: number;
}

type Streaming = Entered & { readonly life: Lifespan };

interface AuthenticatedRequest extends Entered {
  readonly session: Session;
  readonly body: Uint8Array;
}
