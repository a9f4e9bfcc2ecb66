import type { Clock } from '../ports/clock.ts';

export interface Rounds<T> {
  /** It is visited for the first time after `intervalMs` or a little earlier, and then every `intervalMs`. */
  add(member: T): void;
  remove(member: T): void;
}

/** One interval is cut into so many ticks, so that not all are visited at once. */
const TICKS = 16;

/**
 * Visits every member once in an interval, on one timer in all: thousands of streams wait at once, and a timer of its own
 * would be among the largest things that each of them keeps. The timer runs only while there are members. `visit` must not
 * throw.
 */
export function createRounds<T>(
  clock: Clock,
  { intervalMs, visit }: { readonly intervalMs: number; readonly visit: (member: T) => void },
): Rounds<T> {
  const slots = Array.from({ length: TICKS }, () => new Set<T>());
  let tick = 0;
  let count = 0;
  let stop = () => {};

  function arm(): void {
    stop = clock.timer(intervalMs / TICKS, () => {
      tick = (tick + 1) % TICKS;
      arm();
      for (const member of slots[tick] ?? []) visit(member);
    });
  }

  return {
    add(member) {
      slots[tick]?.add(member);
      count += 1;
      if (count === 1) arm();
    },
    remove(member) {
      if (!slots.some((slot) => slot.delete(member))) return;
      count -= 1;
      if (count === 0) stop();
    },
  };
}
