import type { Clock } from '../../core/ports/clock.ts';

export interface JumpingClock extends Clock {
  /** Moves the time, also back. What is due then is called once: a process that slept through ten intervals wakes once. */
  jump(ms: number): void;
}

export function createJumpingClock(start = Date.UTC(2026, 10, 2, 9, 0, 0)): JumpingClock {
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  let now = start;
  return {
    now: () => now,
    timer(ms, callback) {
      const timer = { at: now + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    jump(ms) {
      now += ms;
      for (const timer of [...timers]) {
        if (timer.at <= now && timers.delete(timer)) timer.callback();
      }
    },
  };
}
