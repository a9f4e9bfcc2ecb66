import type { Clock } from '../ports/clock.ts';
import { Registry } from '../registry.ts';

export interface Rounds<T> {
  /** It is visited for the first time after `intervalMs` or a little earlier, and then every `intervalMs`. */
  add(member: T): void;
  remove(member: T): void;
}

interface Place<T> {
  readonly slot: Registry<T>;
  readonly key: number;
}

/** One interval is cut into so many ticks, so that not all are visited at once. */
const TICKS = 16;

/**
 * Visits every member once in an interval, on one timer in all: thousands of streams wait at once, and a timer of its own
 * would be among the largest things that each of them keeps. The timer runs only while there are members. `visit` must not
 * throw.
 */
export function createRounds<T extends object>(
  clock: Clock,
  { intervalMs, visit }: { readonly intervalMs: number; readonly visit: (member: T) => void },
): Rounds<T> {
  const slots = Array.from({ length: TICKS }, () => new Registry<T>());
  const places = new WeakMap<T, Place<T>>();
  let members = 0;
  let tick = 0;
  let stop = () => {};

  function arm(): void {
    stop = clock.timer(intervalMs / TICKS, () => {
      tick = (tick + 1) % TICKS;
      arm();
      for (const member of slots[tick]?.values() ?? []) visit(member);
    });
  }

  return {
    add(member) {
      const slot = slots[tick];
      if (!slot || places.has(member)) return;
      places.set(member, { slot, key: slot.add(member) });
      members += 1;
      if (members === 1) arm();
    },
    remove(member) {
      const place = places.get(member);
      if (!place) return;
      places.delete(member);
      place.slot.take(place.key);
      members -= 1;
      if (members === 0) stop();
    },
  };
}
