import type { Clock } from '../core/ports/clock.ts';

/**
 * The work with an outcome that stands for `ms`, also a rejection: whoever asks meanwhile, however often, gets that one
 * and costs nothing.
 */
export function lately(work: () => Promise<void>, clock: Clock, ms: number): () => Promise<void> {
  let outcome: Promise<void> | undefined;
  let until = 0;
  return () => {
    // A clock that was set back must not make the outcome stand for longer.
    const now = clock.now();
    if (outcome === undefined || now >= until || now < until - ms) {
      until = now + ms;
      outcome = work();
    }
    return outcome;
  };
}
