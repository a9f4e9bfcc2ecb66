import { isDomainError } from '../errors.ts';
import { type Clock, pause } from '../ports/clock.ts';

/** Runs `work`, again and again while the store cannot answer, until `ms` have passed since it first could not. */
export async function patiently<T>(clock: Clock, ms: number, work: () => Promise<T>): Promise<T> {
  let patient = true;
  let cancel: (() => void) | undefined;
  try {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isDomainError(error, 'STORE_UNAVAILABLE') || !patient) throw error;
        cancel ??= clock.timer(ms, () => {
          patient = false;
        });
        await pause(clock, error.retryAfterMs ?? 500);
      }
    }
  } finally {
    cancel?.();
  }
}
