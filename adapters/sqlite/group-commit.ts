import type { DomainError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Transition } from '../../core/ports/decide.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { Wakeups, Written } from '../../core/ports/wakeups.ts';
import type { Connection } from './database.ts';
import { asRejection, isBusy, isFatal, unavailable } from './failures.ts';

/*
 * Write operations that arrive in one turn of the event loop, or while those of one are written, share one transaction and so
 * one fsync, which is nearly all that a small write costs. What one throws undoes it alone: nearly always it has written
 * nothing by then, else the whole group is rolled back and run again with a savepoint for each. Savepoints for everybody would
 * have every operation copy aside each page that an earlier one of the group has changed.
 * When the transaction itself is lost, nothing of the group was promised yet, and every promise of it says so.
 *
 * Nobody hears of a write before its commit: promises resolve and topics are notified after it, and after the files have
 * shown that they are still those that will be found under their names.
 */

/** Of 64 calls most wait for the disk while the event loop has the others: with one group for all, each waits for the other. */
const GROUP_MAX = 40;
/** Operations that wait. More than this means that the disk has stopped. */
const QUEUE_MAX = 10_000;
/** Each attempt blocks for the busy timeout (50 ms), the pauses between them do not: about 4 s in all. */
const BUSY_ATTEMPTS = 20;
/** While it is known to be locked: whoever asks is told soon, and the event loop is blocked a quarter of the time. */
const LOCKED_ATTEMPTS = 2;
const LOCKED_PAUSE_MS = 250;
const PAUSE_MIN_MS = 5;
const PAUSE_MAX_MS = 300;

/** What an operation gets: the time of the commit and a way to tell the world about it, once it is committed. */
export interface Transaction {
  readonly now: number;
  notify(topic: string, written?: Written): void;
  /** For a change that concerns more topics than it is worth naming. */
  notifyAll(): void;
  /** The same for a task that came to another state: whoever wrote it hears of it. */
  moved(transition: Transition): void;
}

export interface GroupCommit {
  /**
   * Runs it inside a transaction, or again inside another one when the first is rolled back. It must be synchronous and
   * must not catch what the database throws. `moved` hears of its transitions after the commit.
   */
  run<T>(operation: (transaction: Transaction) => T, moved?: (transition: Transition) => void): Promise<T>;
  /** Commits what waits; later operations reject. */
  close(): void;
}

interface Entry {
  execute(transaction: Transaction): void;
  /** Of its last run. */
  transitions: readonly Transition[];
  succeed(): void;
  fail(error: unknown): void;
}

interface Thrown {
  readonly thrown: unknown;
}

interface Hints {
  readonly told: Map<string, Written>;
  /** Each once, or a runner would be woken for every message of a group. */
  readonly topics: Set<string>;
  all: boolean;
}

export interface GroupCommitOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly wakeups: Pick<Wakeups, 'notify' | 'notifyAll'>;
  readonly telemetry?: Telemetry;
  /** Calls `run` for what has come since a group began that has room. It is within that group's transaction by then. */
  readonly takeWaiting?: () => void;
}

export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { connection, clock, wakeups, telemetry, takeWaiting } = options;
  const { db, health, files } = connection;
  const begin = connection.prepare<[]>('begin immediate');
  const commit = connection.prepare<[]>('commit');
  const rollback = connection.prepare<[]>('rollback');
  const savepoint = connection.prepare<[]>('savepoint operation');
  const release = connection.prepare<[]>('release operation');
  const undo = connection.prepare<[]>('rollback to operation');

  let queue: Entry[] = [];
  let scheduled = false;
  let closed = false;
  /** The group at the head of the queue was rolled back because of one of its operations. */
  let isolated = false;
  let busyAttempts = 0;
  let locked = false;
  let stopPause: (() => void) | undefined;

  function enqueue<T>(
    operation: (transaction: Transaction) => T,
    moved?: (transition: Transition) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (closed || health.lost || queue.length >= QUEUE_MAX) {
        reject(closed ? unavailable('closed') : health.refused('locked'));
        return;
      }
      let value: T;
      const entry: Entry = {
        transitions: [],
        execute(transaction) {
          value = operation(transaction);
        },
        succeed() {
          if (moved) for (const transition of entry.transitions) moved(transition);
          resolve(value);
        },
        fail: reject,
      };
      queue.push(entry);
      schedule();
    });
  }

  function schedule(): void {
    if (scheduled || stopPause) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      flush();
    });
  }

  function flush(): void {
    if (queue.length === 0) return;
    const fault = health.lost ?? files.before();
    if (fault) {
      const operations = queue.length;
      refuse(queue.splice(0), fault === 'damaged' ? health.lose(fault, operations) : health.refused(fault, operations));
      return;
    }
    try {
      begin.run();
    } catch (error) {
      notBegun(error);
      return;
    }
    busyAttempts = 0;
    locked = false;
    const group = queue.splice(0, GROUP_MAX);
    if (!commitGroup(group)) {
      queue = [...group, ...queue];
      isolated = true;
      flush();
      return;
    }
    isolated = false;
    if (queue.length > 0) schedule();
  }

  function notBegun(error: unknown): void {
    busyAttempts += 1;
    if (isBusy(error) && busyAttempts < (locked ? LOCKED_ATTEMPTS : BUSY_ATTEMPTS)) {
      telemetry?.count('a2a_store_busy_total');
      if (closed) return;
      // Jitter, or two processes that collide once collide every time.
      const most = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** busyAttempts);
      const pauseMs = locked ? LOCKED_PAUSE_MS : PAUSE_MIN_MS + Math.random() * most;
      stopPause = clock.timer(pauseMs, () => {
        stopPause = undefined;
        schedule();
      });
      return;
    }
    busyAttempts = 0;
    locked = isBusy(error);
    failAll(queue.splice(0), error);
  }

  /** False: nothing was written and nobody was told, because one operation has to be undone alone. */
  function commitGroup(group: Entry[]): boolean {
    const hints: Hints = { told: new Map(), topics: new Set(), all: false };
    const done: Entry[] = [];
    const failed: { readonly entry: Entry; readonly error: unknown }[] = [];
    try {
      for (let next: readonly Entry[] = group; next.length > 0; next = joining(group)) {
        for (const entry of next) {
          const outcome = isolated ? executeAlone(entry, hints) : execute(entry, hints);
          if (outcome === 'spoilt') {
            abandon();
            return false;
          }
          if (outcome === undefined) done.push(entry);
          else failed.push({ entry, error: outcome.thrown });
        }
      }
      commit.run();
    } catch (error) {
      abandon();
      failAll(group, error);
      return true;
    }
    connection.counters.commits += 1;
    telemetry?.count('a2a_store_commits_total');
    const fault = files.after();
    if (fault) {
      // It may be there when the file is opened again, or not. Nothing here may be tried again: it could be there twice.
      refuse(group, health.lose(fault, group.length));
      return true;
    }
    health.worked();
    for (const entry of done) entry.succeed();
    for (const { entry, error } of failed) entry.fail(asRejection(error));
    if (hints.all) wakeups.notifyAll();
    else {
      for (const [topic, written] of hints.told) wakeups.notify(topic, written);
      for (const topic of hints.topics) wakeups.notify(topic);
    }
    return true;
  }

  /** What has come while the group was written goes with it, for as long as there is room. Empty: nothing. */
  function joining(group: Entry[]): readonly Entry[] {
    const room = GROUP_MAX - group.length;
    if (room <= 0 || isolated || !takeWaiting) return [];
    takeWaiting();
    const joined = queue.splice(0, room);
    group.push(...joined);
    return joined;
  }

  function abandon(): void {
    connection.revise();
    try {
      if (db.inTransaction) rollback.run();
    } catch (error) {
      // The next BEGIN will say so again if the connection is really lost.
      telemetry?.event('error', 'store.rollback_failed', {}, error);
    }
  }

  /** Answers what the operation threw, `spoilt` when it had written before. Throws when the transaction cannot go on. */
  function execute(entry: Entry, hints: Hints): Thrown | 'spoilt' | undefined {
    const { rowsWritten } = connection.counters;
    try {
      run(entry, hints);
      return undefined;
    } catch (error) {
      if (isFatal(error) || !db.inTransaction) throw error;
      return connection.counters.rowsWritten === rowsWritten ? { thrown: error } : 'spoilt';
    }
  }

  /** Answers what the operation threw, after undoing it. Throws when the transaction cannot go on. */
  function executeAlone(entry: Entry, hints: Hints): Thrown | undefined {
    savepoint.run();
    try {
      run(entry, hints);
    } catch (error) {
      if (isFatal(error) || !db.inTransaction) throw error;
      undo.run();
      connection.revise();
      release.run();
      return { thrown: error };
    }
    release.run();
    return undefined;
  }

  function run(entry: Entry, hints: Hints): void {
    const told: [topic: string, written: Written][] = [];
    const topics: string[] = [];
    const transitions: Transition[] = [];
    let all = false;
    entry.execute({
      now: clock.now(),
      notify: (topic, written) => void (written ? told.push([topic, written]) : topics.push(topic)),
      notifyAll: () => {
        all = true;
      },
      moved: (transition) => transitions.push(transition),
    });
    entry.transitions = transitions;
    for (const [topic, written] of told) hints.told.set(topic, joined(hints.told.get(topic), written));
    for (const topic of topics) hints.topics.add(topic);
    hints.all ||= all;
  }

  function failAll(entries: readonly Entry[], error: unknown): void {
    refuse(entries, health.failed(error, entries.length));
  }

  function refuse(entries: readonly Entry[], rejection: DomainError): void {
    for (const entry of entries) entry.fail(rejection);
  }

  function close(): void {
    closed = true;
    stopPause?.();
    stopPause = undefined;
    while (queue.length > 0) flush();
  }

  return { run: enqueue, close };
}

/** Of one task, in the order of its events: several operations of a group may have written to it. */
function joined(before: Written | undefined, next: Written): Written {
  if (!before) return next;
  return { first: before.first, last: next.last, events: [...before.events, ...next.events], reply: next.reply };
}
