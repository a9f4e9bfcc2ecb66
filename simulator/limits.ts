/**
 * The clocks that Jira holds a remote agent to, and how they shrink.
 *
 * `timeScale` divides waits and deadlines so that a 900 s limit is really met in seconds. It never touches the times
 * inside a token (those are judged by somebody else's clock) and never the heartbeat, which a proxy judges in real time.
 */
export const JIRA_LIMITS = {
  sendMessageMs: 55_000,
  streamMs: 900_000,
  chatInteractionMs: 30 * 60_000,
  itemInteractionMs: 60 * 60_000,
  lifecycleMs: 5_000,
  preUninstallMs: 55_000,
  lifecycleRetries: 4,
  lifecycleRetryMs: 60_000,
  pollMs: 2_000,
  heartbeatMs: 15_000,
  maxLineChars: 65_535,
} as const;

/** A scaled deadline is never shorter: the scheduling of two real processes does not scale. */
export const MIN_SCALED_DEADLINE_MS = 1_000;
/** Nor is a scaled pause between two polls. */
export const MIN_SCALED_POLL_MS = 50;

export interface TimeScale {
  readonly factor: number;
  /** A pause: shrinks without a floor. */
  wait(ms: number): number;
  /** A limit on somebody else: shrinks to a second at the least. */
  deadline(ms: number): number;
}

export function createTimeScale(factor = 1): TimeScale {
  if (!Number.isFinite(factor) || factor < 1) throw new RangeError('timeScale is a number of at least 1');
  return {
    factor,
    wait: (ms) => ms / factor,
    deadline: (ms) => (factor === 1 ? ms : Math.max(MIN_SCALED_DEADLINE_MS, ms / factor)),
  };
}
