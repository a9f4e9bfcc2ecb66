import { hash } from 'node:crypto';
import { v7 as timeOrderedUuid } from 'uuid';
import type { Clock, Digest, Ids } from '../core/ports/clock.ts';

/** Longest delay of a Node timer; a longer wait is made of several. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  timer: (ms, callback) => {
    if (ms > LONGEST_MS) return longTimer(ms, callback);
    const handle = setTimeout(callback, Math.max(0, ms)).unref();
    return () => clearTimeout(handle);
  },
};

function longTimer(ms: number, callback: () => void): () => void {
  let cancel = systemClock.timer(LONGEST_MS, () => {
    cancel = systemClock.timer(ms - LONGEST_MS, callback);
  });
  return () => cancel();
}

/**
 * Ids that grow with time, so that new rows land beside each other in every index: half the pages per commit of random
 * ones. Nothing relies on nobody guessing them, because every read takes the owner.
 *
 * Called without options: with any, also with randomness of ours, the package leaves out its counter, and ids of one
 * millisecond no longer grow.
 */
export const timeOrderedIds: Ids = { next: () => timeOrderedUuid() };

export const sha256: Digest = (text) => hash('sha256', text);
