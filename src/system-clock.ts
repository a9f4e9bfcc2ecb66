import { hash } from 'node:crypto';
import type { Clock, Digest, Ids } from '../core/ports/clock.ts';
import { createTimeOrderedIds } from './time-ordered-ids.ts';

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

export const timeOrderedIds: Ids = createTimeOrderedIds(systemClock.now);

export const sha256: Digest = (text) => hash('sha256', text);
