import assert from 'node:assert/strict';
import type { Frame } from '../../core/operations/operations.ts';
import type { Stop } from '../../core/ports/stop.ts';
import { Stopper } from '../../core/runtime/stopper.ts';

export interface FrameScript extends AsyncIterable<Frame> {
  push(frame: Frame): void;
  end(): void;
  fail(error: unknown): void;
  /** The reader has let go, or was given the end. */
  readonly returned: boolean;
  /** Frames that were asked for. */
  readonly pulled: number;
}

/** A stream that a test feeds as it goes. Ends by itself when the signal is aborted, as those of core do. */
export function frameScript(signal?: Stop): FrameScript {
  const queue: (() => Promise<IteratorResult<Frame>>)[] = [];
  let waiting: ((step: Promise<IteratorResult<Frame>>) => void) | undefined;
  let returned = false;
  let pulled = 0;
  const over: IteratorResult<Frame> = { done: true, value: undefined };

  function put(step: () => Promise<IteratorResult<Frame>>): void {
    if (waiting === undefined) {
      queue.push(step);
      return;
    }
    waiting(step());
    waiting = undefined;
  }

  function end(): void {
    put(async () => {
      returned = true;
      return over;
    });
  }

  signal?.addEventListener('abort', end);
  return {
    push: (value) => put(async () => ({ done: false, value })),
    end,
    fail: (error) => put(() => Promise.reject(error)),
    get returned() {
      return returned;
    },
    get pulled() {
      return pulled;
    },
    [Symbol.asyncIterator]: () => ({
      next: () => {
        pulled += 1;
        const step = queue.shift();
        return step === undefined ? new Promise((resolve) => (waiting = resolve)) : step();
      },
      return: async () => {
        returned = true;
        return over;
      },
    }),
  };
}

/** How many wait to be told that it is aborted. */
export function listening(signal: Stop): number {
  assert.ok(signal instanceof Stopper);
  return signal.listening;
}
