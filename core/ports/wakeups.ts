import type { StoredEvent } from '../event.ts';
import type { Stop } from './stop.ts';

/**
 * Latency hints between a commit and those who wait for it. Losing every one of them costs a waiter at most one poll
 * interval and never an event: whoever wakes reads the store, unless the hint brought what follows on what it has.
 *
 * Topics: `task:<id>` (events were committed), `stop:<id>` (the task became terminal or interrupted), `turn:<id>` (a
 * message or a cancellation for a running turn), `work` (an execution may be claimed).
 */
export interface Wakeups {
  /** `written`: on `task:<id>`, what was committed. */
  notify(topic: string, written?: Written): void;
  /** Wakes everybody: something was committed elsewhere and nobody here knows what. */
  notifyAll(): void;
  /** Subscribe before you read, so that a commit between reading and waiting is not slept through. */
  subscribe(topic: string): Wakeup;
  /**
   * Wakes the listener whenever the topic was notified, and once in `LIMITS.pollMs` besides, until `unlisten`. `only`
   * notices: for whoever is told of everything in another way, too. Answers what was told last, as `told` does.
   */
  listen(topic: string, listener: Listener, only?: 'notices'): Written | undefined;
  /**
   * What the latest commit that told anything told of this topic: nothing has been told behind that yet, so whoever comes
   * straight from a commit need not look.
   */
  told(topic: string): Written | undefined;
  unlisten(topic: string, listener: Listener): void;
}

/** For those of whom there are thousands: it holds no timer and no promise of its own. */
export interface Listener {
  /**
   * Called within the commit's notice; must not throw. `named`: of this very topic, and not of all of them. `written`: what
   * the notice brought.
   */
  wake(named?: boolean, written?: Written): void;
}

/** What a commit wrote to one task, for those who read it up to there and need not ask for what they are told. */
export interface Written {
  /** Sequences of its first event and of its last. */
  readonly first: number;
  readonly last: number;
  /** In order and without a gap. Not to be asked for without need: they may have to be made first. */
  readonly events: readonly StoredEvent[];
  /** The task was completed by a bare Message. */
  readonly reply: boolean;
}

export interface Wakeup {
  /**
   * Resolves when the topic was notified since the last call, after `ms`, or when the signal is aborted. Never rejects.
   * True: this very topic was notified. False says nothing.
   */
  wait(ms: number, signal?: Stop): Promise<boolean>;
  close(): void;
}
