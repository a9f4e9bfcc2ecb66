import type { Buffer } from 'node:buffer';
import { Metadata, type ServerWritableStream, type StatusObject } from '@grpc/grpc-js';
import type { Clock } from '../../core/ports/clock.ts';
import type { Stop } from '../../core/ports/stop.ts';
import type { StreamTimes } from './event-stream.ts';
import { nextStep } from './next-step.ts';

/*
 * Writes one event stream to a gRPC call. Invariants: what a reader does not take is a few messages here and nothing
 * else, since no event is asked for beyond that; a reader that takes nothing is cut, and one that leaves ends nothing but
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

/** What may be on its way to a reader before the next event is asked for. */
const WINDOW_BYTES = 65_536;

export async function writeGrpcStream(options: {
  readonly call: ServerWritableStream<Buffer, Buffer>;
  readonly source: MessageSource;
  /** Ends it between two events. */
  readonly signal: Stop;
  readonly clock: Clock;
  readonly times: Pick<StreamTimes, 'openAfterMs' | 'drainMs' | 'lingerMs'>;
  /** Breaks the stream off: a status would wait behind what the reader does not take. */
  readonly reset: () => void;
  readonly failure: (error: unknown) => StatusObject;
  /** Told before the stream's own end, which may be its last sign of life. */
  readonly ended: (reason: GrpcStreamEnd['reason']) => void;
}): Promise<GrpcStreamEnd> {
  const { call, source, signal, clock, times } = options;
  // So that a reader of a quiet task knows that it is heard.
  const stopOpening = clock.timer(times.openAfterMs, () => call.sendMetadata(new Metadata()));

  let pendingBytes = 0;
  let onRoom = (): void => {};

  /** Resolves when there is room for the next event, or nobody who needs it, or no next event; false when the reader makes none. */
  function write(message: Buffer): Promise<boolean> {
    pendingBytes += message.length;
    call.write(message, () => {
      pendingBytes -= message.length;
      if (pendingBytes <= WINDOW_BYTES) onRoom();
    });
    if (pendingBytes <= WINDOW_BYTES || call.cancelled) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (room: boolean) => {
        cancel();
        signal.removeEventListener('abort', onRoom);
        call.off('cancelled', onRoom);
        resolve(room);
      };
      const cancel = clock.timer(times.drainMs, () => settle(false));
      onRoom = () => settle(true);
      signal.addEventListener('abort', onRoom, { once: true });
      call.once('cancelled', onRoom);
    });
  }

  async function pump(): Promise<GrpcStreamEnd> {
    for (let events = 0; ; events += 1) {
      const step = await nextStep(source, signal);
      if (signal.aborted) return { reason: 'stopped' };
      if ('error' in step) return { reason: events === 0 ? 'refused' : 'failed', error: step.error };
      stopOpening();
      if (step.value === undefined) return { reason: 'complete' };
      const room = await write(step.value);
      if (signal.aborted) return { reason: 'stopped' };
      if (!room) return { reason: 'slow-reader' };
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
    const cancel = clock.timer(end.reason === 'stopped' ? times.lingerMs : times.drainMs, () => resolve(false));
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
