import type { Stop } from '../../core/ports/stop.ts';

/** The next value of a source, an error, or the end; the end as well as soon as the signal is aborted. */
export type Step<T> = { readonly value: T | undefined } | { readonly error: unknown };

/** Never rejects. A source that is still asked when the signal comes is not waited for. */
export function nextStep<T>(source: { next(): Promise<T | undefined> }, signal: Stop): Promise<Step<T>> {
  return new Promise((resolve) => {
    const stop = () => resolve({ value: undefined });
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    source
      .next()
      .then(
        (value) => resolve({ value }),
        (error: unknown) => resolve({ error }),
      )
      .finally(() => signal.removeEventListener('abort', stop));
  });
}
