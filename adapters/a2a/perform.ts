import type { IncomingHttpHeaders } from 'node:http';
import { SendMessageRequest, SubscribeToTaskRequest } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { JsonRpcTransportHandler } from '@a2a-js/sdk/server';
import { DomainError } from '../../core/errors.ts';
import type { Frame } from '../../core/operations/operations.ts';
import { type Call, contextOf, type FramePlace } from './call.ts';
import { toWireEvent } from './codec.ts';
import type { Edge, PreparedCall, ProtocolVersion, Session } from './edge.ts';
import { isRecord } from './envelope.ts';
import { requireExtensions } from './extensions.ts';
import type { Stoppable } from './lifespan.ts';
import type { Place } from './load-gate.ts';
import type { Method } from './methods.ts';
import { pushNotSupported } from './push-configs.ts';
import { createRequestHandler, type HandlerOptions } from './request-handler.ts';
import type { ResponseStream } from './response-stream.ts';
import { paramsOf, validateParams } from './validation.ts';

/*
 * One call of one operation, whatever binding it came by: what it may say is checked, then the SDK's transport handler
 * maps to and from the wire. Its envelope is ours on both sides and never leaves this file, so that every binding
 * answers with the same bytes. Streams of 1.0 and its most frequent answers pass it by: core's form is what it would make
 * of them, in two translations of each task, and it would hand on frames one by one.
 */

export interface OperationCall {
  readonly session: Session;
  readonly version: ProtocolVersion;
  readonly name: string;
  readonly method: Method;
  /** As they came; undefined when absent. */
  readonly params: unknown;
  readonly headers: IncomingHttpHeaders;
  readonly life: Stoppable;
  readonly place: Pick<Place, 'becomeStream'>;
}

export interface StreamResult {
  readonly result: unknown;
  /** Of the event within its task. */
  readonly sequence: number | undefined;
}

export interface ResultStream {
  /** Undefined at the end. */
  next(): Promise<StreamResult | undefined>;
  /** The next one, if it need not be waited for; `over`: none follows. */
  ready(): StreamResult | 'over' | undefined;
  close(): Promise<void>;
}

export type Performed = { readonly result: unknown } | { readonly results: ResultStream };

/** Rejects with whatever the operation refused; the SDK's shortened errors are replaced by those our handler kept. */
export type Perform = (call: OperationCall) => Promise<Performed>;

export function createPerform(options: HandlerOptions): Perform {
  const { edge } = options;
  const handler = createRequestHandler(options);
  const transports = {
    '1.0': new JsonRpcTransportHandler(handler),
    '0.3': new LegacyJsonRpcTransportHandler(handler),
  };

  return async (call) => {
    const { session, version, name, method } = call;
    if (method.streams && !edge.streaming) {
      throw new DomainError('UNSUPPORTED_OPERATION', 'Streaming is not supported');
    }
    // Before the params: what is wrong with them does not matter to somebody who gets nothing anyway.
    if (method.pushes && !options.push) throw pushNotSupported();
    if (edge.offer) requireExtensions(edge.offer, name, call.headers);
    const prepared = session.prepare({ method: name, params: paramsOf(method, call.params) });
    const params = validateParams(method, prepared.params, session);
    // The last thing that is refused: a message that was accepted has to be answered.
    if (method.streams) call.place.becomeStream();
    const state = callState(edge, call, prepared);
    if (version === '1.0' && Object.hasOwn(handler.plain, name)) {
      return { result: await handler.plain[name]?.(params, state) };
    }
    const context = contextOf(state, version);
    if (method.streams && version === '1.0') {
      const subscribes = name === 'SubscribeToTask';
      const stream = subscribes
        ? handler.resubscribe(SubscribeToTaskRequest.fromJSON(params), context)
        : handler.sendMessageStream(SendMessageRequest.fromJSON(params), context);
      return { results: resultsOf(stream) };
    }
    const answer = await transports[version].handle({ jsonrpc: '2.0', id: 0, method: name, params }, context);
    if (Symbol.asyncIterator in answer) return { results: legacyResultsOf(answer, state.frame) };
    if ('error' in answer) throw state.failure ? state.failure.error : sdkFailure(answer.error);
    return { result: answer.result };
  };
}

function callState(edge: Edge, call: OperationCall, prepared: PreparedCall): Call {
  const { tenant } = call.session;
  const caller = { binding: edge.name, version: call.version, ...call.session.caller };
  return {
    caller: prepared.delegate === undefined ? caller : { ...caller, delegate: prepared.delegate },
    tenant,
    profile: edge.profile,
    key: prepared.key,
    deadlineMs: prepared.deadlineMs,
    after: edge.profile.lastEventId ? eventId(call.headers['last-event-id']) : undefined,
    life: call.life,
    frame: { sequence: undefined },
    failure: undefined,
  };
}

/** An error that did not come from our handler: the SDK found a fault that validation let pass. */
function sdkFailure(error: unknown): Error {
  return isRecord(error) && error.code === -32602
    ? new DomainError('INVALID_PARAMS', 'Invalid parameters')
    : new Error('the transport handler refused', { cause: error });
}

function resultsOf(stream: ResponseStream): ResultStream {
  return {
    next: () => stream.frame().then((frame) => frame && resultOf(frame)),
    ready: () => {
      const frame = stream.ready();
      return typeof frame === 'object' ? resultOf(frame) : frame;
    },
    close: async () => {
      await stream.return();
    },
  };
}

function resultOf({ body, sequence }: Frame): StreamResult {
  return { result: toWireEvent(body), sequence };
}

/** Holds the place of the frame and not the call: that one has the caller's token, and a stream may wait for an hour. */
function legacyResultsOf(answers: AsyncGenerator<unknown, void, undefined>, frame: FramePlace): ResultStream {
  return {
    next: () =>
      answers
        .next()
        .then(({ done, value }) =>
          done ? undefined : { result: isRecord(value) ? value.result : undefined, sequence: frame.sequence },
        ),
    ready: () => undefined,
    close: async () => {
      await answers.return();
    },
  };
}

function eventId(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^[1-9]\d{0,14}$/.test(header) ? Number(header) : undefined;
}
