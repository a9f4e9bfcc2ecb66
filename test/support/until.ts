import { setTimeout as later } from 'node:timers/promises';
import type { ManualClock } from './manual-clock.ts';

const PATIENCE_MS = 10_000;

/** Resolves with the condition's first value that is not false or undefined; rejects after ten seconds, naming it. */
export async function until<T>(what: string, condition: () => Promise<T | undefined | false> | T | undefined | false) {
  const limit = performance.now() + PATIENCE_MS;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value as T;
    if (performance.now() > limit) throw new Error(`did not come true: ${what}`);
    await later(2);
  }
}

/** The same, moving the clock in steps while it waits, so that every timer of the service gets its turn. */
export function advanceUntil<T>(
  clock: ManualClock,
  what: string,
  condition: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  return until(what, async () => {
    const value = await condition();
    if (value === undefined || value === false) clock.advance(100);
    return value;
  });
}

export interface Gate {
  open(): void;
  readonly opened: Promise<void>;
}

/** Something to wait for that a test opens. */
export function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** A promise that nobody ever settles, as of an agent that hangs. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
