import { setImmediate as turn } from 'node:timers/promises';

/** Resolves when the condition holds; fails after five seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const limit = Date.now() + 5_000;
  while (!condition()) {
    if (Date.now() > limit) throw new Error('the condition did not come true');
    await turn();
  }
}
