import type { Clock } from '../../core/ports/clock.ts';

export interface SkippingClock extends Clock {
  /** Every pause that was skipped, in milliseconds. */
  readonly pauses: readonly number[];
  /** Fires the timers that are left: limits on calls that never end. */
  expire(): void;
}

/**
 * Time that passes only in pauses, and those at once. Timers of `limitMs` and more are limits, not pauses: they stay
 * until `expire`.
 */
export function createSkippingClock(start: number, limitMs: number): SkippingClock {
  let now = start;
  const pauses: number[] = [];
  const limits = new Set<() => void>();
  return {
    pauses,
    now: () => now,
    timer(ms, callback) {
      if (ms >= limitMs) {
        limits.add(callback);
        return () => limits.delete(callback);
      }
      let live = true;
      pauses.push(ms);
      queueMicrotask(() => {
        if (!live) return;
        now += ms;
        callback();
      });
      return () => {
        live = false;
      };
    },
    expire() {
      for (const callback of [...limits]) callback();
      limits.clear();
    },
  };
}
