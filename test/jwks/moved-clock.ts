import type { Clock } from '../../core/ports/clock.ts';

export interface MovedClock extends Clock {
  /** Moves time on and fires the timers that have become due, in order. */
  advance(ms: number): void;
}

/** Real time plus what a test has moved it by; timers fire only when it is moved. */
export function createMovedClock(): MovedClock {
  let movedMs = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  const now = () => Date.now() + movedMs;
  return {
    now,
    timer(ms, callback) {
      const timer = { at: now() + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      movedMs += ms;
      const due = [...timers].filter(({ at }) => at <= now()).sort((a, b) => a.at - b.at);
      for (const timer of due) if (timers.delete(timer)) timer.callback();
    },
  };
}
