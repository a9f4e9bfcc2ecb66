import type { Clock } from '../../core/ports/clock.ts';

/**
 * Calls that one tenant may make. Jira counts all tenants of an app against one quota, so that without it one busy
 * site would lock out the others.
 */
export interface Budget {
  /**
   * Takes one call and answers how many milliseconds to wait before making it, first come first served. Undefined
   * when that would be more than `maxWaitMs`: nothing is taken then.
   */
  reserve(maxWaitMs: number): number | undefined;
}

interface BudgetOptions {
  readonly clock: Clock;
  /** Calls at once. */
  readonly burst?: number;
  /** Calls per second in the long run. The default is about a sixth of an app's hourly quota. */
  readonly perSecond?: number;
}

const BURST = 120;
const PER_SECOND = 3;

/** A token bucket. One per tenant, shared by all its tasks in this process. */
export function createBudget({ clock, burst = BURST, perSecond = PER_SECOND }: BudgetOptions): Budget {
  let tokens = burst;
  let at = clock.now();
  return {
    reserve(maxWaitMs) {
      const now = clock.now();
      tokens = Math.min(burst, tokens + (Math.max(0, now - at) / 1_000) * perSecond);
      at = now;
      const waitMs = tokens >= 1 ? 0 : Math.ceil(((1 - tokens) / perSecond) * 1_000);
      if (waitMs > maxWaitMs) return undefined;
      tokens -= 1;
      return waitMs;
    },
  };
}
