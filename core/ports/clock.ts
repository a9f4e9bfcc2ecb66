import type { Stop } from './stop.ts';

/** The only source of time. `now` is epoch milliseconds. */
export interface Clock {
  now(): number;
  /** Calls back once after `ms`; the returned function takes it back. Never keeps the process alive by itself. */
  timer(ms: number, callback: () => void): () => void;
}

/** The only source of identifiers. */
export interface Ids {
  /** A new unguessable id. */
  next(): string;
}

/** A collision-resistant digest of a text, in hexadecimal. */
export type Digest = (text: string) => string;

/** Resolves after `ms`, or at once when the signal is aborted. Never rejects. */
export function pause(clock: Clock, ms: number, signal?: Stop): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const done = () => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.timer(ms, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}
