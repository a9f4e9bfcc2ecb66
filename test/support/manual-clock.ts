import type { Clock } from '../../core/ports/clock.ts';

export interface ManualClock extends Clock {
  /** Moves the time and runs the timers that fall due on the way, each at its own time. */
  advance(ms: number): void;
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** Time that stands still until a test moves it. */
export function createManualClock(start = Date.UTC(2026, 10, 2, 9, 0, 0)): ManualClock {
  const timers = new Set<Timer>();
  let now = start;

  function nextDue(until: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of timers) if (timer.at <= until && (!next || timer.at < next.at)) next = timer;
    return next;
  }

  return {
    now: () => now,
    timer(ms, callback) {
      const timer = { at: now + Math.max(0, ms), callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const until = now + ms;
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        timers.delete(timer);
        now = Math.max(now, timer.at);
        timer.callback();
      }
      now = until;
    },
  };
}
