import type { Clock } from '../../core/ports/clock.ts';

/** What has to give a sign of life. */
export interface Beating {
  /** Must not throw. */
  beat(): void;
}

export interface Heartbeats {
  /** It beats for the first time after `intervalMs` or a little earlier, and then every `intervalMs`. */
  add(beating: Beating): void;
  remove(beating: Beating): void;
}

/** One interval is cut into so many ticks, so that not all beat at once. */
const TICKS = 16;

/**
 * The heartbeats of everything that is open, on one timer in all: a timer each would be the largest thing that a quiet
 * stream keeps. The timer runs only while there is something that beats.
 */
export function createHeartbeats(clock: Clock, intervalMs: number): Heartbeats {
  const slots = Array.from({ length: TICKS }, () => new Set<Beating>());
  let tick = 0;
  let count = 0;
  let stop = () => {};

  function arm(): void {
    stop = clock.timer(intervalMs / TICKS, () => {
      tick = (tick + 1) % TICKS;
      for (const beating of slots[tick] ?? []) beating.beat();
      if (count > 0) arm();
    });
  }

  return {
    add(beating) {
      slots[tick]?.add(beating);
      count += 1;
      if (count === 1) arm();
    },
    remove(beating) {
      if (!slots.some((slot) => slot.delete(beating))) return;
      count -= 1;
      if (count === 0) stop();
    },
  };
}
