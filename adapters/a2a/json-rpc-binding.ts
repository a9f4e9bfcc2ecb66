import { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { JsonAnswer } from './answer.ts';
import type { Binding, CallRequest, Exchange, Failure, JsonReply, StreamReply } from './binding.ts';
import { JSON_TYPE, unreadableBody } from './body-type.ts';
import type { Edge, ProtocolVersion } from './edge.ts';
import { parseEnvelope, type RpcCall, type RpcId } from './envelope.ts';
import { protocolError, retryHeader, severityOf, type WireError, wireError } from './error-table.ts';
import type { StreamFrame, StreamSource } from './event-stream.ts';
import { methodOf } from './methods.ts';
import type { Perform, ResultStream, StreamResult } from './perform.ts';
import { legacyHint, negotiateVersion } from './version.ts';

/*
 * JSON-RPC (A2A 1.0, 9). From authentication on every answer is a 200, because clients hide a JSON-RPC error behind any
 * other status. The checks stand in the order in which a caller learns most: envelope, version, method, params.
 */

export function createJsonRpcBinding(options: {
  /** Served with and without a slash at the end, never redirected. */
  readonly path: string;
  readonly edge: Edge;
  readonly perform: Perform;
  readonly telemetry: Telemetry;
}): Binding {
  const { path, edge, perform, telemetry } = options;
  const notPost = {
    error: protocolError('METHOD_NOT_ALLOWED', 'JSON-RPC calls are POST requests'),
    headers: { Allow: 'POST' },
  };

  async function performCall(request: CallRequest, headers: IncomingHttpHeaders, query: string) {
    const parsed = parseEnvelope(request.body);
    if ('refused' in parsed) return { ...refused(parsed.id, parsed.refused, '1.0'), method: 'none' };
    const { call } = parsed;
    // Alone, because the params must not stay with what reports errors of a stream.
    const { id } = call;
    let version: ProtocolVersion = '1.0';
    let method = 'none';
    let legacyStream = false;
    const failure = (error: unknown): Failure => {
      const severity = severityOf(error);
      if (severity !== undefined) telemetry.event(severity, 'request.failed', { edge: edge.name, method }, error);
      return refused(id, wireError(error), version);
    };
    try {
      version = negotiateVersion(edge, { headers, query, method: call.method });
      const known = methodOf(version, call.method);
      if (known === undefined) return { ...refused(id, methodNotFound(edge, version, call), version), method };
      method = call.method;
      legacyStream = version === '0.3' && known.streams === true;
      const { session, life, place } = request;
      const { params } = call;
      const answer = await perform({ session, version, name: method, method: known, params, headers, life, place });
      if ('results' in answer) {
        const frames = framesOf(answer.results, id);
        return { frames: legacyStream ? withRefusal(frames, failure) : frames, method, failure };
      }
      const whole = ok({ jsonrpc: '2.0', id, result: answer.result });
      place.holdAnswer(Buffer.byteLength(whole.json));
      return { answer: whole, method, outcome: 'ok' };
    } catch (error) {
      if (!legacyStream) return { ...failure(error), method };
      const refusal = withRefusal(
        { next: () => Promise.reject(error), ready: () => undefined, close: async () => {} },
        failure,
      );
      return { frames: refusal, method, failure };
    }
  }

  return {
    open(request): Exchange | undefined {
      if (request.path !== path && request.path !== `${path}/`) return undefined;
      return {
        ...(request.method === 'POST' ? {} : { refused: notPost }),
        refusal: (error, authenticated) =>
          authenticated ? ok(envelopeOf(null, error)) : { ...answerTo(null, error), status: error.http },
        unreadable: () => unreadableBody(request.headers, [JSON_TYPE]),
        perform: (call): Promise<JsonReply | StreamReply> => performCall(call, request.headers, request.query),
      };
    },
  };
}

function ok(body: object): JsonAnswer {
  return { status: 200, json: JSON.stringify(body) };
}

function answerTo(id: RpcId | null, error: WireError): JsonAnswer {
  return { ...ok(envelopeOf(id, error)), headers: retryHeader(error) };
}

function envelopeOf(id: RpcId | null, { jsonRpc, message, details }: WireError, version: ProtocolVersion = '1.0') {
  // Clients of 0.3 expect an object or nothing where 1.0 has its list of details.
  const data = version === '0.3' ? { details } : details;
  return { jsonrpc: '2.0', id, error: { code: jsonRpc, message, data } };
}

function refused(id: RpcId | null, error: WireError, version: ProtocolVersion): Failure {
  return { answer: ok(envelopeOf(id, error, version)), outcome: String(error.jsonRpc) };
}

function methodNotFound(edge: Edge, version: ProtocolVersion, call: RpcCall): WireError {
  const other = version === '1.0' ? '0.3' : '1.0';
  if (methodOf(other, call.method) === undefined) return protocolError('METHOD_NOT_FOUND', 'Method not found');
  const hint = version === '1.0' ? legacyHint(edge) : 'Send the header A2A-Version: 1.0.';
  return protocolError(
    'METHOD_NOT_FOUND',
    `This is a method of A2A ${other}, the call was made as ${version}. ${hint}`,
  );
}

function framesOf(results: ResultStream, id: RpcId): StreamSource {
  const frameOf = ({ result, sequence }: StreamResult): StreamFrame => ({
    json: JSON.stringify({ jsonrpc: '2.0', id, result }),
    sequence,
  });
  return {
    next: () => results.next().then((step) => step && frameOf(step)),
    ready: () => {
      const step = results.ready();
      return typeof step === 'object' ? frameOf(step) : step;
    },
    close: results.close,
  };
}

/**
 * A refusal as the only frame. Clients of 0.3 take no answer to a streaming call but an event stream: one in plain JSON,
 * which is what those of 1.0 want, is a fault of the transport to them, and its code is lost.
 */
function withRefusal(source: StreamSource, failure: (error: unknown) => Failure): StreamSource {
  let state: 'before' | 'open' | 'refused' = 'before';
  return {
    async next() {
      if (state === 'refused') return undefined;
      try {
        const step = await source.next();
        state = 'open';
        return step;
      } catch (error) {
        if (state === 'open') throw error;
        state = 'refused';
        return { json: failure(error).answer.json, sequence: undefined };
      }
    },
    ready: () => undefined,
    close: source.close,
  };
}
