import { pause } from '../pause.ts';

const LOOK_EVERY_MS = 20;
const LIMIT_MS = 15_000;

/** Looks again and again until the condition holds; rejects when that takes too long. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { what, limitMs = LIMIT_MS }: { readonly what: string; readonly limitMs?: number },
): Promise<void> {
  const giveUpAt = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
    await pause(LOOK_EVERY_MS);
  }
}
