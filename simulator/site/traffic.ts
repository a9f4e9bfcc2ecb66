import { pause } from '../pause.ts';

/**
 * What a test does to the site's REST answers: slow them down, hold them back, refuse them with 429. Rules name a work
 * item's key, or `*` for every request; requests that are refused for their token are never delayed.
 */
export interface Traffic {
  /** Each request that touches the item takes that long. 0 takes the rule away. */
  latency(key: string, ms: number): void;
  /**
   * Nothing about the item is answered before `ms` have passed since the first request for it. One request is held for
   * 5 s at most and then told when to come again (429): an agent's own request timeout is not what is tested.
   */
  hold(key: string, ms: number): void;
  /** Requests about the item wait until the gate is opened. */
  gate(key: string): Gate;
  /** The next `times` requests are answered with 429. */
  rateLimit(rule: { readonly key?: string; readonly times: number; readonly retryAfterS: number }): void;
  /** Takes every rule away and lets go whoever waits. */
  clear(): void;
  /** Applies the rules to one request: undefined when it may be answered, or the seconds to come back after. */
  pass(keys: readonly string[], signal: AbortSignal): Promise<number | undefined>;
}

export interface Gate {
  /** Resolves when the first request stands at the gate. */
  reached(): Promise<void>;
  open(): void;
}

const MAX_HELD_MS = 5_000;
/** Agents may take a longer one for a refusal. */
const MAX_RETRY_AFTER_S = 100;
const EVERY = '*';

interface Barrier {
  readonly reached: Promise<void>;
  readonly arrive: () => void;
  readonly opened: AbortController;
}

function createBarrier(): Barrier {
  let arrive = (): void => {};
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  return { reached, arrive, opened: new AbortController() };
}

export function createTraffic(): Traffic {
  const latencies = new Map<string, number>();
  const holds = new Map<string, { readonly ms: number; until?: number }>();
  const barriers = new Map<string, Barrier>();
  let limits: { readonly key: string; times: number; readonly retryAfterS: number }[] = [];

  const limited = (keys: readonly string[]): number | undefined => {
    const rule = limits.find((limit) => limit.times > 0 && (limit.key === EVERY || keys.includes(limit.key)));
    if (!rule) return undefined;
    rule.times -= 1;
    return rule.retryAfterS;
  };

  const held = async (key: string, signal: AbortSignal): Promise<number | undefined> => {
    const hold = holds.get(key);
    if (!hold) return undefined;
    hold.until ??= Date.now() + hold.ms;
    const leftMs = hold.until - Date.now();
    if (leftMs > 0) await pause(Math.min(leftMs, MAX_HELD_MS), signal);
    if (leftMs <= MAX_HELD_MS || !holds.has(key)) return undefined;
    return Math.min(MAX_RETRY_AFTER_S, Math.ceil((leftMs - MAX_HELD_MS) / 1000));
  };

  const gated = async (key: string, signal: AbortSignal): Promise<void> => {
    const barrier = barriers.get(key);
    if (!barrier || barrier.opened.signal.aborted) return;
    barrier.arrive();
    await new Promise<void>((resolve) => {
      for (const end of [signal, barrier.opened.signal]) end.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
    });
  };

  return {
    latency: (key, ms) => void (ms > 0 ? latencies.set(key, ms) : latencies.delete(key)),
    hold: (key, ms) => void holds.set(key, { ms }),
    gate(key) {
      const barrier = createBarrier();
      barriers.get(key)?.opened.abort();
      barriers.set(key, barrier);
      return { reached: () => barrier.reached, open: () => barrier.opened.abort() };
    },
    rateLimit: ({ key, times, retryAfterS }) => void limits.push({ key: key ?? EVERY, times, retryAfterS }),
    clear() {
      for (const barrier of barriers.values()) barrier.opened.abort();
      barriers.clear();
      latencies.clear();
      holds.clear();
      limits = [];
    },
    async pass(keys, signal) {
      const retryAfterS = limited(keys);
      if (retryAfterS !== undefined) return retryAfterS;
      for (const key of [EVERY, ...new Set(keys)]) {
        const latencyMs = latencies.get(key) ?? 0;
        if (latencyMs > 0) await pause(latencyMs, signal);
        await gated(key, signal);
        const again = await held(key, signal);
        if (again !== undefined) return again;
      }
      return undefined;
    },
  };
}
