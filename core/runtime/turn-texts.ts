import { DomainError } from '../errors.ts';
import { LIMITS } from '../limits.ts';

/** What people read when a turn ends otherwise than its agent said. Fixed words: the reason is in the log. */
export const TURN_TEXTS = {
  failed: 'The agent failed unexpectedly. Its operator finds the reason in the log.',
  silent: 'The agent ended without an answer.',
  /** A request for authorization has to say what it is about (A2A 1.0, 7.6.1), and its agent did not. */
  authorization: 'The agent needs an authorization before it can go on, and did not say which.',
  review:
    'This was interrupted in the middle of its work. It needs review: nothing was started again, because that might do something twice.',
  restart: 'This was interrupted by a restart. Nothing was started again, because that might do something twice.',
  events: 'The agent reported more than one task may hold, and was stopped.',
  exhausted: `This was interrupted ${LIMITS.maxAttempts} times and was given up.`,
} as const;

/** Made once: an abort reason of its own, with its stack, for each turn was a twentieth of the work of a short one. */
export const STOPPED = new DomainError('LEASE_LOST', 'The turn was stopped');
export const ENDED = new DomainError('LEASE_LOST', 'The turn has ended');

/** For the operator: what kind of thing was thrown. Its message may quote a token or a work item; that is for the log, which cleans it. */
export function describeThrown(error: unknown): string {
  try {
    const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
    const kind = error instanceof Error && typeof name === 'string' ? name : 'a value that is no Error';
    return (typeof code === 'string' ? `${kind}: ${code}` : kind).slice(0, 200);
  } catch {
    return 'a value that cannot be looked at';
  }
}
