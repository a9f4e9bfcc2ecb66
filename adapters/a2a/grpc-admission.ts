import { type Metadata, ServerInterceptingCall, type ServerInterceptingCallInterface } from '@grpc/grpc-js';
import type { Clock } from '../../core/ports/clock.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { Registry } from '../../core/registry.ts';
import { letIn, logRefusal, overloadedError } from './admission.ts';
import type { Edge } from './edge.ts';
import type { EndpointLimits } from './endpoint-limits.ts';
import { protocolError, severityOf, type WireError, wireError } from './error-table.ts';
import { admit, type GrpcCall, openCall, streamOf } from './grpc-call.ts';
import { headersOf } from './grpc-metadata.ts';
import { statusOf } from './grpc-status.ts';
import type { LoadGate, Place } from './load-gate.ts';

/*
 * The life of a gRPC call around its handler. Who calls is settled from the metadata: the library reads the message only
 * when it is passed on. Every call that began is counted once, when its stream is over, whoever ended it.
 */

/** `path`: of the method. */
export type GrpcIntercept = (path: string, call: ServerInterceptingCallInterface) => ServerInterceptingCall;

export function createGrpcAdmission(options: {
  readonly edge: Edge;
  readonly limits: EndpointLimits;
  readonly gate: LoadGate;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly shutdown: AbortSignal;
}): GrpcIntercept {
  const { edge, limits, gate, telemetry, clock, shutdown } = options;
  const running = new Registry<GrpcCall>();
  shutdown.addEventListener('abort', () => {
    for (const call of running.values()) call.stop('shutdown');
  });

  return (path, call) => {
    const own = openCall(path.slice(path.lastIndexOf('/') + 1), clock.now());
    const stream = streamOf(call);
    let place: Place | undefined;
    /** Of what runs; 0 before it does. */
    let key = 0;
    let received = false;
    let cancelBodyTimer = () => {};
    let cancelAnswerTimer = () => {};

    /** Its answer is there. One that is not taken lies in memory and keeps its place, so that is not for ever. */
    function answered(): void {
      if (!running.has(key)) return;
      cancelAnswerTimer();
      cancelAnswerTimer = clock.timer(limits.answerMs, () => {
        stream.reset();
        // The reset may wait behind what the connection does not take.
        finish();
      });
    }

    function refuse(error: WireError, headers: Readonly<Record<string, string>> = {}): void {
      if (!running.has(key)) return;
      own.outcome ??= `grpc-${error.grpc}`;
      answered();
      call.sendStatus(statusOf(error, headers));
    }

    async function begin(metadata: Metadata, next: (metadata: Metadata) => void): Promise<void> {
      key = running.add(own);
      if (shutdown.aborted) return refuse(overloadedError());
      const entered = gate.enter(edge.name);
      place = entered;
      const headers = headersOf(metadata, call.getHost());
      const admission = await letIn(edge, {
        headers,
        authorizations: metadata.get('authorization').length,
        address: call.getConnectionInfo().remoteAddress,
      });
      if ('refused' in admission) {
        const { cause } = admission;
        if (cause !== undefined) logRefusal(telemetry, edge, headers, cause);
        return refuse(admission.refused, admission.headers);
      }
      // The client may have left meanwhile, and the place with it.
      if (!running.has(key)) return;
      // It may have begun meanwhile.
      if (shutdown.aborted) return refuse(overloadedError());
      const { session } = admission;
      entered.callerIs(session.caller.owner);
      admit(metadata, Object.assign(own, { session, headers, place: entered, reset: stream.reset, answered }));
      const tooSlow = protocolError('BODY_TOO_SLOW', 'The message did not come in time');
      cancelBodyTimer = clock.timer(limits.bodyTimeoutMs, () => refuse(tooSlow));
      next(metadata);
    }

    function finish(): void {
      cancelBodyTimer();
      cancelAnswerTimer();
      if (!running.take(key)) return;
      place?.leave();
      // After an answer there is nothing to stop, and aborting costs.
      if (own.outcome === undefined) own.stop('client-gone');
      // What still comes is thrown away for as long, then the client is stopped.
      if (!received) clock.timer(limits.lingerMs, stream.reset);
      // The library has its own answer to a message that is too large or badly compressed.
      const { name: method, outcome = received || stream.closed() ? 'client-gone' : 'unreadable' } = own;
      telemetry.count('a2a_requests_total', { edge: edge.name, method, outcome });
      telemetry.observe('a2a_request_seconds', (clock.now() - own.startedAt) / 1_000, { edge: edge.name, method });
    }

    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            begin(metadata, pass).catch((error: unknown) => {
              const severity = severityOf(error);
              if (severity) telemetry.event(severity, 'request.failed', { edge: edge.name, method: own.name }, error);
              refuse(wireError(error));
            });
          },
          onReceiveMessage: (message: Uint8Array, pass) => {
            try {
              place?.holdBody(message.length);
            } catch (error) {
              return refuse(wireError(error));
            }
            pass(message);
          },
          onReceiveHalfClose: (pass) => {
            received = true;
            cancelBodyTimer();
            pass();
          },
          onCancel: finish,
        }),
    });
  };
}
