import { LIMITS } from '../limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stop } from '../ports/stop.ts';
import type { Listener, Wakeup, Wakeups, Written } from '../ports/wakeups.ts';
import { createRounds } from './rounds.ts';

/** Wake-ups within one process. A topic costs nothing while nobody listens to it, but what the latest commit told is kept. */
export function createWakeups(clock: Clock): Wakeups {
  const topics = new Map<string, Set<Listener>>();
  /** By the latest commit that told anything: its notices follow each other without anything between them. */
  let told = new Map<string, Written>();
  let telling = false;
  const rounds = createRounds<Listener>(clock, {
    intervalMs: LIMITS.pollMs,
    visit: (listener) => listener.wake(),
  });

  function remember(topic: string, written: Written): void {
    if (!telling) {
      telling = true;
      // A table that is emptied points to its next one, see Registry.
      told = new Map();
      void Promise.resolve().then(() => {
        telling = false;
      });
    }
    told.set(topic, written);
  }

  function add(topic: string, listener: Listener): void {
    const listeners = topics.get(topic);
    if (listeners) listeners.add(listener);
    else topics.set(topic, new Set([listener]));
  }

  function remove(topic: string, listener: Listener): void {
    const listeners = topics.get(topic);
    listeners?.delete(listener);
    if (listeners?.size === 0) topics.delete(topic);
  }

  return {
    notify: (topic, written) => {
      if (written) remember(topic, written);
      else told.delete(topic);
      const listeners = topics.get(topic);
      if (listeners) for (const listener of listeners) listener.wake(true, written);
    },
    notifyAll: () => {
      told = new Map();
      for (const listeners of topics.values()) for (const listener of listeners) listener.wake(false);
    },
    subscribe: (topic) => {
      const waiter = new Waiter(clock, () => remove(topic, waiter));
      add(topic, waiter);
      return waiter;
    },
    listen: (topic, listener, only) => {
      add(topic, listener);
      if (only === undefined) rounds.add(listener);
      return told.get(topic);
    },
    told: (topic) => told.get(topic),
    unlisten: (topic, listener) => {
      rounds.remove(listener);
      remove(topic, listener);
    },
  };
}

/** A class and no handful of closures, because every blocking message has one. */
class Waiter implements Wakeup, Listener {
  private readonly clock: Clock;
  private readonly leave: () => void;
  /** Notified since the last wait. */
  private due = false;
  private named = false;
  /** Ends the wait that is under way. */
  private done: (() => void) | undefined;

  constructor(clock: Clock, leave: () => void) {
    this.clock = clock;
    this.leave = leave;
  }

  wake(named: boolean): void {
    this.due = true;
    this.named ||= named;
    this.done?.();
  }

  wait(ms: number, signal?: Stop): Promise<boolean> {
    if (this.due || signal?.aborted) return Promise.resolve(this.take());
    return new Promise((resolve) => {
      const done = (): void => {
        this.done = undefined;
        cancel();
        signal?.removeEventListener('abort', done);
        resolve(this.take());
      };
      const cancel = this.clock.timer(ms, done);
      this.done = done;
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  close(): void {
    this.done?.();
    this.leave();
  }

  private take(): boolean {
    const { named } = this;
    this.due = false;
    this.named = false;
    return named;
  }
}
