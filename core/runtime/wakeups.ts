import { LIMITS } from '../limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { Listener, Wakeup, Wakeups } from '../ports/wakeups.ts';
import { createRounds } from './rounds.ts';

interface Waiter extends Listener {
  /** Notified since the last wait. */
  due: boolean;
  done: (() => void) | undefined;
}

/** Wake-ups within one process. A topic costs nothing while nobody listens to it. */
export function createWakeups(clock: Clock): Wakeups {
  const topics = new Map<string, Set<Listener>>();
  const rounds = createRounds<Listener>(clock, {
    intervalMs: LIMITS.pollMs,
    visit: (listener) => listener.wake(),
  });

  function rouse(listeners: Iterable<Listener>): void {
    for (const listener of listeners) listener.wake();
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

  function subscribe(topic: string): Wakeup {
    const waiter: Waiter = {
      due: false,
      done: undefined,
      wake: () => {
        waiter.due = true;
        waiter.done?.();
      },
    };
    add(topic, waiter);
    return {
      wait: (ms, signal) =>
        new Promise((resolve) => {
          if (waiter.due || signal?.aborted) {
            waiter.due = false;
            resolve();
            return;
          }
          const done = (): void => {
            waiter.due = false;
            waiter.done = undefined;
            cancel();
            signal?.removeEventListener('abort', done);
            resolve();
          };
          const cancel = clock.timer(ms, done);
          waiter.done = done;
          signal?.addEventListener('abort', done, { once: true });
        }),
      close: () => {
        waiter.done?.();
        remove(topic, waiter);
      },
    };
  }

  return {
    notify: (topic) => rouse(topics.get(topic) ?? []),
    notifyAll: () => {
      for (const listeners of topics.values()) rouse(listeners);
    },
    subscribe,
    listen: (topic, listener) => {
      add(topic, listener);
      rounds.add(listener);
    },
    unlisten: (topic, listener) => {
      rounds.remove(listener);
      remove(topic, listener);
    },
  };
}
