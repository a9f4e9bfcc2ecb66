import type { StreamTimes } from './event-stream.ts';

export interface EndpointLimits extends StreamTimes {
  readonly maxBodyBytes: number;
  /** From the end of the headers to the end of the body. */
  readonly bodyTimeoutMs: number;
  /** How long a client may take for an answer that is no stream. */
  readonly answerMs: number;
}

export const ENDPOINT_LIMITS = {
  maxBodyBytes: 5 * 1_024 * 1_024,
  bodyTimeoutMs: 30_000,
  answerMs: 120_000,
  lingerMs: 2_000,
  heartbeatMs: 4_000,
  openAfterMs: 4_000,
  drainMs: 30_000,
} as const satisfies EndpointLimits;
