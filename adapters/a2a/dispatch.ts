import type { IncomingHttpHeaders } from 'node:http';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { JsonRpcTransportHandler } from '@a2a-js/sdk/server';
import { DomainError } from '../../core/errors.ts';
import type { Operations } from '../../core/operations/operations.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { type Call, contextOf } from './call.ts';
import type { Edge, PreparedCall, ProtocolVersion, Session } from './edge.ts';
import { isRecord, parseEnvelope, type RpcCall, type RpcId } from './envelope.ts';
import { protocolError, type RpcError, rpcError, severityOf } from './error-table.ts';
import type { StreamSource } from './event-stream.ts';
import { methodOf } from './methods.ts';
import { createRequestHandler } from './request-handler.ts';
import { paramsOf, validateParams } from './validation.ts';
import { legacyHint, negotiateVersion } from './version.ts';

/*
 * From the bytes of an authenticated request to its answer, without any HTTP. The checks stand in the order in which a
 * caller learns most: envelope, version, method, params. After them the SDK's transport handler maps to and from the
 * wire; errors it shortens are replaced by those that our handler kept.
 */

interface DispatchRequest {
  readonly session: Session;
  readonly body: Uint8Array;
  readonly headers: IncomingHttpHeaders;
  /** Without the question mark. */
  readonly query: string;
  readonly signal: AbortSignal;
}

interface JsonReply {
  readonly json: string;
  /** For metrics: `ok` or the error's code. */
  readonly outcome: string;
  /** For metrics: `none` when it is not known. */
  readonly method: string;
}

export interface StreamReply {
  readonly frames: StreamSource;
  readonly method: string;
  /** The answer that reports an error of this call. */
  readonly failure: (error: unknown) => RefusedAnswer;
}

type RefusedAnswer = Pick<JsonReply, 'json' | 'outcome'>;

export function createDispatcher(options: {
  readonly operations: Operations;
  readonly edge: Edge;
  readonly telemetry: Telemetry;
}): (request: DispatchRequest) => Promise<JsonReply | StreamReply> {
  const { edge, telemetry } = options;
  const handler = createRequestHandler(options.operations, { streaming: edge.streaming });
  const transports = {
    '1.0': new JsonRpcTransportHandler(handler),
    '0.3': new LegacyJsonRpcTransportHandler(handler),
  };

  return async (request) => {
    const parsed = parseEnvelope(request.body);
    if ('refused' in parsed) return { ...refused(parsed.id, parsed.refused, '1.0'), method: 'none' };
    const { call } = parsed;
    let version: ProtocolVersion = '1.0';
    let method = 'none';
    const failure = (error: unknown): RefusedAnswer => {
      const severity = severityOf(error);
      if (severity !== undefined) telemetry.event(severity, 'request.failed', { edge: edge.name, method }, error);
      return refused(call.id, rpcError(error), version);
    };
    try {
      version = negotiateVersion(edge, request.headers, request.query);
      const known = methodOf(version, call.method);
      if (known === undefined) return { ...refused(call.id, methodNotFound(edge, version, call), version), method };
      method = call.method;
      if (known.streams && !edge.streaming) {
        throw new DomainError('UNSUPPORTED_OPERATION', 'Streaming is not supported');
      }
      const prepared = request.session.prepare({ method, params: paramsOf(known, call.params) });
      const params = validateParams(known, prepared.params, request.session);
      const state = callState(edge, request, prepared);
      const answer = await transports[version].handle(
        { jsonrpc: '2.0', id: call.id, method, params },
        contextOf(state, version),
      );
      if (Symbol.asyncIterator in answer) return { frames: framesOf(answer, state), method, failure };
      if (!('error' in answer)) return { json: JSON.stringify({ ...answer, id: call.id }), method, outcome: 'ok' };
      return { ...failure(state.failure ? state.failure.error : sdkFailure(answer.error)), method };
    } catch (error) {
      return { ...failure(error), method };
    }
  };
}

function callState(edge: Edge, request: DispatchRequest, prepared: PreparedCall): Call {
  const { caller } = request.session;
  return {
    caller: prepared.delegate === undefined ? caller : { ...caller, delegate: prepared.delegate },
    profile: edge.profile,
    key: prepared.key,
    deadlineMs: prepared.deadlineMs,
    after: edge.profile.lastEventId ? eventId(request.headers['last-event-id']) : undefined,
    signal: request.signal,
    sequence: undefined,
    failure: undefined,
  };
}

function methodNotFound(edge: Edge, version: ProtocolVersion, call: RpcCall): RpcError {
  const other = version === '1.0' ? '0.3' : '1.0';
  if (methodOf(other, call.method) === undefined) return protocolError('METHOD_NOT_FOUND', 'Method not found');
  const hint = version === '1.0' ? legacyHint(edge) : 'Send the header A2A-Version: 1.0.';
  return protocolError(
    'METHOD_NOT_FOUND',
    `This is a method of A2A ${other}, the call was made as ${version}. ${hint}`,
  );
}

function refused(id: RpcId | null, error: RpcError, version: ProtocolVersion): RefusedAnswer {
  // Clients of 0.3 expect an object or nothing where 1.0 has its list of details.
  const shown = version === '0.3' ? { ...error, data: { details: error.data } } : error;
  return { json: JSON.stringify({ jsonrpc: '2.0', id, error: shown }), outcome: String(error.code) };
}

/** An error that did not come from our handler: the SDK found a fault that validation let pass. */
function sdkFailure(error: unknown): Error {
  return isRecord(error) && error.code === -32602
    ? new DomainError('INVALID_PARAMS', 'Invalid parameters')
    : new Error('the transport handler refused', { cause: error });
}

function framesOf(answers: AsyncGenerator<unknown, void, undefined>, call: Call): StreamSource {
  return {
    next: async () => {
      const { done, value } = await answers.next();
      return done ? undefined : { json: JSON.stringify(value), sequence: call.sequence };
    },
    close: async () => {
      await answers.return();
    },
  };
}

function eventId(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^[1-9]\d{0,14}$/.test(header) ? Number(header) : undefined;
}
