import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/ports/clock.ts';
import type { Stop } from '../../core/ports/stop.ts';

interface Bound {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal?: Stop;
}

/** The first of these events, `abort` when the signal was before them, or undefined when none came in time. */
export function firstEvent(
  response: ServerResponse,
  names: readonly string[],
  bound: Bound,
): Promise<string | undefined> {
  const { signal } = bound;
  return new Promise((resolve) => {
    const settle = (name: string | undefined) => {
      cancel();
      signal?.removeEventListener('abort', stop);
      for (const [listened, listener] of listeners) response.off(listened, listener);
      resolve(name);
    };
    const stop = () => settle('abort');
    const cancel = bound.clock.timer(bound.ms, () => settle(undefined));
    signal?.addEventListener('abort', stop, { once: true });
    const listeners = names.map((name) => [name, () => settle(name)] as const);
    for (const [name, listener] of listeners) response.once(name, listener);
  });
}

/** Ends it with this text. Resolves when all of it is written out; what is not in time is thrown away. */
export async function endWith(response: ServerResponse, text: string, bound: Bound): Promise<void> {
  if (response.destroyed) return;
  response.end(text);
  // Every response that finishes closes, and so does one whose connection breaks.
  if ((await firstEvent(response, ['close'], bound)) === undefined) response.destroy();
}
