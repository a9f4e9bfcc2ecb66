import { setTimeout as delay } from 'node:timers/promises';

/** Waits, or returns early (without an error) when the signal fires: callers look at the signal themselves. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, signal ? { signal } : {});
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
