import type { Buffer } from 'node:buffer';
import type { ServerUnaryCall, ServerWritableStream, StatusObject, sendUnaryData } from '@grpc/grpc-js';
import type { Clock } from '../../core/ports/clock.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { Edge } from './edge.ts';
import { ENDPOINT_LIMITS, type EndpointLimits } from './endpoint-limits.ts';
import { severityOf, type WireError, wireError } from './error-table.ts';
import { createGrpcAdmission, type GrpcIntercept } from './grpc-admission.ts';
import { type AdmittedCall, admitted, type GrpcCall } from './grpc-call.ts';
import type { GrpcMethod } from './grpc-codec.ts';
import { statusOf } from './grpc-status.ts';
import { writeGrpcStream } from './grpc-stream.ts';
import type { LoadGate } from './load-gate.ts';
import { methodOf } from './methods.ts';
import { createPerform, type Performed } from './perform.ts';
import type { HandlerOptions } from './request-handler.ts';
import { negotiateVersion } from './version.ts';

/*
 * gRPC (A2A 1.0, 10) of one edge: the calls of the other bindings, in protobuf. Only 1.0 is served: 0.3 had another
 * service, under another name.
 */

export interface GrpcEndpointOptions extends HandlerOptions {
  readonly limits?: Partial<EndpointLimits>;
  /** Shared by the edges of a process. */
  readonly gate: LoadGate;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** Aborted when the server stops: streams end cleanly, waits end, new calls are refused. */
  readonly shutdown: AbortSignal;
}

/** What a gRPC server asks. */
export interface GrpcEndpoint {
  readonly intercept: GrpcIntercept;
  answer(method: GrpcMethod, call: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>): void;
  stream(method: GrpcMethod, call: ServerWritableStream<Buffer, Buffer>): void;
}

export function createGrpcEndpoint(options: GrpcEndpointOptions): GrpcEndpoint {
  const { telemetry, clock } = options;
  const limits: EndpointLimits = { ...ENDPOINT_LIMITS, ...options.limits };
  const legacyHint = 'gRPC is served for 1.0 only: send the metadata a2a-version: 1.0.';
  const edge: Edge = { ...options.edge, versions: ['1.0'], legacyHint };
  const perform = createPerform(options);

  async function start(method: GrpcMethod, call: AdmittedCall, bytes: Uint8Array): Promise<Performed | WireError> {
    const { headers, session, place } = call;
    const { name } = method;
    const version = negotiateVersion(edge, { headers, query: '', method: name });
    const operation = methodOf(version, name);
    if (operation === undefined) throw new TypeError(`a method ${name}`);
    const said = method.decode(bytes);
    if ('refused' in said) return said.refused;
    return perform({ session, version, name, method: operation, params: said.params, headers, life: call, place });
  }

  /** `work` answers the call, or says why not. */
  async function run(call: GrpcCall, work: () => Promise<WireError | undefined>): Promise<StatusObject | undefined> {
    try {
      const refused = await work();
      return refused && refusal(call, refused);
    } catch (error) {
      return failure(call, error);
    }
  }

  function failure(call: GrpcCall, error: unknown): StatusObject {
    const severity = severityOf(error);
    if (severity !== undefined) {
      telemetry.event(severity, 'request.failed', { edge: edge.name, method: call.name }, error);
    }
    return refusal(call, wireError(error));
  }

  async function stream(
    method: GrpcMethod,
    call: AdmittedCall,
    writable: ServerWritableStream<Buffer, Buffer>,
  ): Promise<WireError | undefined> {
    const performed = await start(method, call, writable.request);
    if ('grpc' in performed) return performed;
    if (!('results' in performed)) throw new TypeError('one answer where there is a stream');
    const { results } = performed;
    const deadlineMs = edge.profile.streamDeadlineMs - (clock.now() - call.startedAt);
    const cancelDeadline = clock.timer(deadlineMs, () => call.stop('deadline'));
    call.place.dropBody();
    const end = await writeGrpcStream({
      ...{ call: writable, signal: call.signal, clock, times: limits, reset: call.reset },
      source: {
        next: async () => {
          const step = await results.next();
          return step && method.encode(step.result);
        },
        close: results.close,
      },
      failure: (error) => failure(call, error),
      ended: (reason) => {
        call.outcome ??= reason === 'stopped' ? call.stopped : reason;
      },
    }).finally(cancelDeadline);
    if (end.reason === 'refused') return undefined;
    const reason = end.reason === 'stopped' ? (call.stopped ?? 'stopped') : end.reason;
    if (reason === 'slow-reader') telemetry.event('warn', 'stream.cut', { edge: edge.name, method: call.name });
    telemetry.count('a2a_stream_ends_total', { edge: edge.name, reason });
    return undefined;
  }

  function traced(call: AdmittedCall, work: () => Promise<void>): void {
    const { traceparent, 'x-b3-traceid': b3 } = call.headers;
    const options = { parent: [traceparent ?? b3].flat()[0], fields: () => ({ method: call.name }) };
    void telemetry.span('grpc.request', options, async (span) => {
      await work();
      span.set({ outcome: call.outcome });
    });
  }

  return {
    intercept: createGrpcAdmission({ ...options, limits }),
    answer: (method, surface, respond) => {
      const call = admitted(surface);
      traced(call, async () => {
        let message: Buffer | undefined;
        const refused = await run(call, async () => {
          const performed = await start(method, call, surface.request);
          if ('grpc' in performed) return performed;
          if ('results' in performed) throw new TypeError('a stream where there is one answer');
          message = method.encode(performed.result);
          call.place.holdAnswer(message.length);
          call.outcome = 'ok';
          return undefined;
        });
        call.answered();
        if (refused) respond(refused);
        else respond(null, message);
      });
    },
    stream: (method, surface) => {
      const call = admitted(surface);
      traced(call, async () => {
        const refused = await run(call, () => stream(method, call, surface));
        if (refused) surface.emit('error', refused);
      });
    },
  };
}

function refusal(call: GrpcCall, error: WireError): StatusObject {
  call.outcome = String(error.jsonRpc);
  return statusOf(error);
}
