import type { Buffer } from 'node:buffer';
import { Metadata, type ServerWritableStream, type StatusObject } from '@grpc/grpc-js';
import type { Clock } from '../../core/ports/clock.ts';
import type { StreamTimes } from './event-stream.ts';
import { nextStep } from './next-step.ts';

/*
 * Writes one event stream to a gRPC call. Invariants: an event is asked for when the one before it is on its way, so
 * what a reader does not take is one message; a reader that takes nothing is cut, and one that leaves ends nothing but
 * its stream.
 */

export interface MessageSource {
  /** The next event as it goes out; undefined: the stream is over. */
  next(): Promise<Buffer | undefined>;
  close(): Promise<void>;
}

export type GrpcStreamEnd =
  /** `refused`: no event was written before. */
  | { readonly reason: 'refused' | 'failed'; readonly error: unknown }
  | { readonly reason: 'complete' | 'stopped' | 'slow-reader' };

export async function writeGrpcStream(options: {
  readonly call: ServerWritableStream<Buffer, Buffer>;
  readonly source: MessageSource;
  /** Ends it between two events. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly times: Pick<StreamTimes, 'openAfterMs' | 'drainMs'>;
  /** Breaks the stream off: a status would wait behind what the reader does not take. */
  readonly reset: () => void;
  readonly failure: (error: unknown) => StatusObject;
  /** Told before the stream's own end, which may be its last sign of life. */
  readonly ended: (reason: GrpcStreamEnd['reason']) => void;
}): Promise<GrpcStreamEnd> {
  const { call, source, signal, clock, times } = options;
  // So that a reader of a quiet task knows that it is heard.
  const stopOpening = clock.timer(times.openAfterMs, () => call.sendMetadata(new Metadata()));

  async function pump(): Promise<GrpcStreamEnd> {
    for (let events = 0; ; events += 1) {
      const step = await nextStep(source, signal);
      if (signal.aborted) return { reason: 'stopped' };
      if ('error' in step) return { reason: events === 0 ? 'refused' : 'failed', error: step.error };
      stopOpening();
      if (step.value === undefined) return { reason: 'complete' };
      if (!(await written(call, step.value, { clock, ms: times.drainMs }))) return { reason: 'slow-reader' };
    }
  }

  const end = await pump();
  stopOpening();
  options.ended(end.reason);
  // A source that waits answers only when its own signal has reached it; nobody has to wait for that.
  source.close().catch(() => undefined);
  if (call.cancelled) return end;
  if (end.reason === 'slow-reader') {
    options.reset();
    return end;
  }
  const over = new Promise<boolean>((resolve) => {
    const cancel = clock.timer(times.drainMs, () => resolve(false));
    // What the library says at the end of every call.
    call.once('cancelled', () => {
      cancel();
      resolve(true);
    });
  });
  if ('error' in end) call.emit('error', options.failure(end.error));
  else call.end();
  if (!(await over)) options.reset();
  return end;
}

/** Resolves when the message is on its way or nobody waits for it; false when the reader makes no room for it. */
function written(
  call: ServerWritableStream<Buffer, Buffer>,
  message: Buffer,
  bound: { readonly clock: Clock; readonly ms: number },
): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (taken: boolean) => {
      cancel();
      call.off('cancelled', gone);
      resolve(taken);
    };
    const gone = () => settle(true);
    const cancel = bound.clock.timer(bound.ms, () => settle(false));
    call.once('cancelled', gone);
    call.write(message, gone);
    if (call.cancelled) gone();
  });
}
