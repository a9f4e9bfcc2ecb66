import type { Clock } from '../ports/clock.ts';
import type { Wakeup, Wakeups } from '../ports/wakeups.ts';

interface Waiter {
  /** Notified since the last wait. */
  due: boolean;
  wake: (() => void) | undefined;
}

/** Wake-ups within one process. A topic costs nothing while nobody is subscribed to it. */
export function createWakeups(clock: Clock): Wakeups {
  const topics = new Map<string, Set<Waiter>>();

  function rouse(waiters: Iterable<Waiter>): void {
    for (const waiter of waiters) {
      waiter.due = true;
      waiter.wake?.();
    }
  }

  function subscribe(topic: string): Wakeup {
    const waiter: Waiter = { due: false, wake: undefined };
    const waiters = topics.get(topic) ?? new Set();
    topics.set(topic, waiters.add(waiter));
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
            waiter.wake = undefined;
            cancel();
            signal?.removeEventListener('abort', done);
            resolve();
          };
          const cancel = clock.timer(ms, done);
          waiter.wake = done;
          signal?.addEventListener('abort', done, { once: true });
        }),
      close: () => {
        waiter.wake?.();
        waiters.delete(waiter);
        if (waiters.size === 0 && topics.get(topic) === waiters) topics.delete(topic);
      },
    };
  }

  return {
    notify: (topic) => rouse(topics.get(topic) ?? []),
    notifyAll: () => {
      for (const waiters of topics.values()) rouse(waiters);
    },
    subscribe,
  };
}
