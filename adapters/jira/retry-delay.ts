/** What decides how long to wait before asking once more. */
interface RetryHints {
  readonly headers: Headers | undefined;
  /** 1 after the first call. */
  readonly attempt: number;
  /** Epoch milliseconds. */
  readonly now: number;
  /** 0 up to 1. */
  readonly random: () => number;
}

const FIRST_BACKOFF_MS = 500;
const EPOCH_SECONDS = 1_000_000_000;

/**
 * Milliseconds until the next try: what Jira asks for and then some, never less. Without a hint the wait doubles. The
 * jitter keeps the tasks of one tenant from coming back all at once.
 */
export function retryDelay(hints: RetryHints): number {
  const asked = retryAfter(hints) ?? rateLimitReset(hints);
  if (asked !== undefined) return Math.ceil(asked + hints.random() * (250 + asked / 4));
  const backoff = FIRST_BACKOFF_MS * 2 ** (hints.attempt - 1);
  return Math.ceil(backoff * (1 + hints.random()));
}

/** Seconds, or an HTTP date. */
function retryAfter(hints: RetryHints): number | undefined {
  const value = hints.headers?.get('retry-after')?.trim() ?? '';
  return /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : until(Date.parse(value), hints.now);
}

/** Jira sends a date; other gateways send epoch seconds or seconds from now. */
function rateLimitReset(hints: RetryHints): number | undefined {
  const value = hints.headers?.get('x-ratelimit-reset')?.trim() ?? '';
  if (!/^\d{1,13}$/.test(value)) return until(Date.parse(value), hints.now);
  const number = Number(value);
  if (number < EPOCH_SECONDS) return number * 1_000;
  return until(number < EPOCH_SECONDS * 1_000 ? number * 1_000 : number, hints.now);
}

function until(at: number, now: number): number | undefined {
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
