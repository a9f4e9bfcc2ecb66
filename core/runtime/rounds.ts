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
  const slotOf = new Map<T, Set<T>>();
  let tick = 0;
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
      const slot = slots[tick];
      if (!slot || slotOf.has(member)) return;
      slot.add(member);
      slotOf.set(member, slot);
      if (slotOf.size === 1) arm();
    },
    remove(member) {
      if (!slotOf.get(member)?.delete(member)) return;
      slotOf.delete(member);
      if (slotOf.size === 0) stop();
    },
  };
}
