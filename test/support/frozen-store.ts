import type { TaskStore } from '../../core/ports/task-store.ts';
import { createGate, type Gate } from './until.ts';

export interface FreezableStore {
  readonly store: TaskStore;
  /** From now on every call hangs, as in a process that was stopped or killed. */
  freeze(): void;
  /** The process wakes up: what hangs is carried out now. */
  thaw(): void;
  readonly frozen: boolean;
}

/** One worker's view of a store, so that a worker can die while the others live on. */
export function createFreezableStore(inner: TaskStore): FreezableStore {
  let ice: Gate | undefined;
  const store = new Proxy(inner, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      const call = (args: unknown[]): unknown => Reflect.apply(member, target, args);
      return (...args: unknown[]) => (ice ? ice.opened.then(() => call(args)) : call(args));
    },
  });
  return {
    store,
    freeze: () => {
      ice ??= createGate();
    },
    thaw: () => {
      ice?.open();
      ice = undefined;
    },
    get frozen() {
      return ice !== undefined;
    },
  };
}
