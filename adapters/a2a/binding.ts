import type { IncomingHttpHeaders } from 'node:http';
import type { JsonAnswer } from './answer.ts';
import type { Session } from './edge.ts';
import type { WireError } from './error-table.ts';
import type { StreamSource } from './event-stream.ts';
import type { Stoppable } from './lifespan.ts';
import type { Place } from './load-gate.ts';

/*
 * How calls and errors look on the wire. The endpoint knows HTTP and no binding: connections, sizes, times, who may come
 * in. A binding knows paths and bodies, and neither sockets nor callers.
 */

export interface Binding {
  /** Undefined: the path is not one of this binding. */
  open(request: RequestHead): Exchange | undefined;
}

export interface RequestHead {
  readonly method: string;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
}

/** One request in its binding. */
export interface Exchange {
  /** The request line alone is wrong; asked before anything else. */
  readonly refused?: { readonly error: WireError; readonly headers?: Record<string, string> };
  /** The answer to a request that never became a call. */
  refusal(error: WireError, authenticated: boolean): JsonAnswer;
  /** The body cannot be read for what its headers say. */
  unreadable(body: Uint8Array): WireError | undefined;
  perform(request: CallRequest): Promise<JsonReply | StreamReply>;
}

export interface CallRequest {
  readonly session: Session;
  readonly body: Uint8Array;
  readonly life: Stoppable;
  /** `becomeStream`: before anything is done for a call that a stream answers; `holdAnswer`: once its result is there. */
  readonly place: Pick<Place, 'becomeStream' | 'holdAnswer'>;
}

export interface JsonReply {
  readonly answer: JsonAnswer;
  /** For metrics: `ok` or the error's code. */
  readonly outcome: string;
  /** For metrics: `none` when it is not known. */
  readonly method: string;
}

export interface StreamReply {
  readonly frames: StreamSource;
  readonly method: string;
  /** The answer that reports an error of this call, as plain JSON and as the last event of its stream. */
  failure(error: unknown): Failure;
}

export interface Failure {
  readonly answer: JsonAnswer;
  readonly outcome: string;
  /** Name of the event that carries it; absent: a message like the others. */
  readonly event?: string;
}
