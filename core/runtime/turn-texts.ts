import { DomainError } from '../errors.ts';
import { LIMITS } from '../limits.ts';

/** What people read when a turn ends otherwise than its agent said. Fixed words: the reason is in the log. */
export const TURN_TEXTS = {
  failed: 'The agent failed unexpectedly. Its operator finds the reason in the log.',
  silent: 'The agent ended without an answer.',
  review:
    'This was interrupted in the middle of its work. It needs review: nothing was started again, because that might do something twice.',
  restart: 'This was interrupted by a restart. Nothing was started again, because that might do something twice.',
  exhausted: `This was interrupted ${LIMITS.maxAttempts} times and was given up.`,
} as const;

/** Made once: an abort reason of its own, with its stack, for each turn was a twentieth of the work of a short one. */
export const STOPPED = new DomainError('LEASE_LOST', 'The turn was stopped');
export const ENDED = new DomainError('LEASE_LOST', 'The turn has ended');
