import { randomFillSync } from 'node:crypto';
import type { Ids } from '../core/ports/clock.ts';

/*
 * UUIDs of version 7 (RFC 9562): ids that grow with time, so that new rows land beside each other in every index: half
 * the pages per commit of random ones. Nothing relies on nobody guessing them, because every read takes the owner.
 *
 * Behind the millisecond stands a counter of 26 bits, begun anew at a random place in the lower half of its range in
 * every millisecond, so that ids of one process grow also within it; then 48 random bits. Randomness is taken from the
 * system for many ids at once: a look for each, and its text byte by byte, cost more than all the rest.
 */

const TAIL_CHARS = 12;
const IDS_A_LOOK = 512;
const COUNTER_END = 2 ** 26;

/** `now`: epoch milliseconds; may go back, ids do not. */
export function createTimeOrderedIds(now: () => number): Ids {
  const random = Buffer.alloc((IDS_A_LOOK * TAIL_CHARS) / 2);
  let tails = '';
  let used = 0;
  let at = -1;
  let time = '';
  let counter = 0;

  /** 48 random bits in hexadecimal. */
  function tail(): string {
    if (used === tails.length) {
      tails = randomFillSync(random).toString('hex');
      used = 0;
    }
    used += TAIL_CHARS;
    return tails.slice(used - TAIL_CHARS, used);
  }

  function begin(ms: number): void {
    at = ms;
    const digits = hex(ms, 12);
    time = `${digits.slice(0, 8)}-${digits.slice(8)}-7`;
    counter = Number.parseInt(tail().slice(0, 7), 16) % (COUNTER_END / 2);
  }

  return {
    next() {
      const ms = now();
      counter += 1;
      if (ms > at) begin(ms);
      // Full only when 33 million ids were made in a millisecond, or the clock stands still: the next one is lent.
      else if (counter === COUNTER_END) begin(at + 1);
      // The variant of RFC 9562 is 10 in the highest bits of the fourth group.
      return `${time}${hex(counter >>> 14, 3)}-${hex(0x8000 | (counter & 0x3fff), 4)}-${tail()}`;
    },
  };
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
