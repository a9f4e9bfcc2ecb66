import type { TestContext } from 'node:test';
import type { OperatorStore } from '../../core/ports/operator-store.ts';
import type { TaskStore } from '../../core/ports/task-store.ts';
import type { Tenants } from '../../core/ports/tenants.ts';
import type { Wakeups } from '../../core/ports/wakeups.ts';

/** A store under test, and the time by which it judges. */
export interface Subject {
  readonly store: TaskStore;
  readonly tenants: Tenants;
  readonly operator: OperatorStore;
  now(): number;
  advance(ms: number): void;
  /** Topics that were notified since the last call; `*` stands for all. */
  notified(): readonly string[];
}

/** Opens an empty store that goes with the test. */
export type SubjectFactory = (t: TestContext) => Promise<Subject>;

export interface RecordingWakeups extends Wakeups {
  notified(): readonly string[];
}

/** Wakes nobody and remembers who would have been. */
export function createRecordingWakeups(): RecordingWakeups {
  let topics: string[] = [];
  return {
    notify: (topic) => topics.push(topic),
    notifyAll: () => topics.push('*'),
    subscribe: () => ({ wait: () => Promise.resolve(false), close: () => {} }),
    listen: () => undefined,
    told: () => undefined,
    unlisten: () => {},
    notified() {
      const seen = topics;
      topics = [];
      return seen;
    },
  };
}
