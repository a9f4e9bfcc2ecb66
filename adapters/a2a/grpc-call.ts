import { constants } from 'node:http2';
import { Duplex } from 'node:stream';
import type { Metadata, ServerInterceptingCallInterface } from '@grpc/grpc-js';
import type { Stop } from '../../core/ports/stop.ts';
import { Stopper } from '../../core/runtime/stopper.ts';
import type { Session } from './edge.ts';
import type { Place } from './load-gate.ts';

/** One gRPC call from its headers to its end. */
export interface GrpcCall {
  readonly name: string;
  /** By our clock, when the headers were there. */
  readonly startedAt: number;
  /** Ends the waiting and the stream, never the task. */
  readonly signal: Stop;
  stop(reason: StopReason): void;
  readonly stopped: StopReason | undefined;
  /** For metrics: `ok`, an error's code or how a stream ended. */
  outcome: string | undefined;
}

export type StopReason = 'client-gone' | 'deadline' | 'shutdown';

export interface AdmittedCall extends GrpcCall {
  readonly session: Session;
  readonly place: Place;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  reset(): void;
  /** Its only answer goes out now: it is reset when that is not taken in time. */
  answered(): void;
}

export function openCall(name: string, startedAt: number): GrpcCall {
  const stopper = new Stopper<StopReason>();
  return {
    name,
    startedAt,
    signal: stopper,
    get stopped() {
      return stopper.reason;
    },
    outcome: undefined,
    stop: (reason) => stopper.abort(reason),
  };
}

const admittedCalls = new WeakMap<Metadata, AdmittedCall>();

/** The metadata is the only thing that an interceptor and the handler of its call both hold. */
export function admit(metadata: Metadata, call: AdmittedCall): void {
  admittedCalls.set(metadata, call);
}

export function admitted({ metadata }: { readonly metadata: Metadata }): AdmittedCall {
  const call = admittedCalls.get(metadata);
  if (call === undefined) throw new TypeError('a call that nobody let in');
  return call;
}

/**
 * The HTTP/2 stream of a call. The library can only end a call with a status, which waits until the reader has taken
 * what was written before, and goes on reading whatever a client sends; so its stream is taken from inside, where it is
 * if the library is the one that was tested.
 */
export function streamOf(call: ServerInterceptingCallInterface): { closed(): boolean; reset(): void } {
  const stream: unknown = 'stream' in call ? call.stream : undefined;
  const closed = () => !(stream instanceof Duplex) || stream.closed || stream.destroyed;
  return {
    closed,
    reset: () => {
      if (closed() || !(stream instanceof Duplex)) return;
      if ('close' in stream && typeof stream.close === 'function') stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    },
  };
}
