import { join } from 'node:path';
import { openSqliteStore, type SqliteStore } from '../../adapters/sqlite/open.ts';
import { createMemoryVault } from '../../adapters/vault/memory-vault.ts';
import { decideBegin, decideExpire } from '../../core/decide/end.ts';
import { createOperations } from '../../core/operations/create-operations.ts';
import type { Operations } from '../../core/operations/operations.ts';
import type { Ids } from '../../core/ports/clock.ts';
import type { Claimed, TaskStore } from '../../core/ports/task-store.ts';
import type { Wakeups } from '../../core/ports/wakeups.ts';
import type { RunningTurn } from '../../core/runtime/running-turns.ts';
import { startTurn } from '../../core/runtime/turn.ts';
import { sha256 } from '../../src/system-clock.ts';
import { createFreezableStore } from '../support/frozen-store.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { createJumpingClock, type JumpingClock } from './jumping-clock.ts';
import { createModel, type Model } from './model.ts';
import type { Sending } from './model-callers.ts';
import { LEASE_MS, type ModelAttempt, PARKED_MS } from './model-turns.ts';
import { createPuppetAgent, type Puppet } from './puppet.ts';

/*
 * Two processes of the service on one file, without the loops: whoever drives a history says when a worker claims, when
 * it sends a heartbeat and when the janitor looks. Everything else is the real thing: operations, turns, store. Nobody
 * is woken, which the service has to bear.
 */

/** A turn that a worker runs, and what the model thinks of it. */
export interface Running {
  readonly attempt: ModelAttempt;
  readonly process: Process;
  readonly turn: RunningTurn;
  /** Absent: the turn was given up without its agent. */
  readonly puppet: Puppet | undefined;
  /** Steps whose effect is under way. */
  readonly effects: Effect[];
  over: boolean;
}

export interface Effect {
  readonly key: string;
  readonly value: number;
  readonly finish: () => void;
  readonly result: Promise<number>;
}

/** A worker dies by freezing its view of the store, so that nothing that it still holds in memory gets there. */
export interface Process {
  readonly name: string;
  readonly sqlite: SqliteStore;
  readonly store: TaskStore;
  readonly operations: Operations;
  readonly worker: string;
  /** Turns that began with their message, since somebody asked last. */
  begun(): readonly Claimed[];
  /** Whether its runner keeps a slot for the messages that come. */
  keepsSlots: boolean;
  crash(): void;
}

export interface World {
  readonly path: string;
  readonly clock: JumpingClock;
  readonly model: Model;
  readonly processes: Process[];
  readonly running: Running[];
  /** Messages that were accepted. */
  readonly sent: Sending[];
  /** What happened, a line each. */
  readonly story: string[];
  readonly ids: Ids;
  /** Resolves when everything has happened that happens without anybody's doing. */
  settle(): Promise<void>;
  claim(process: Process): Promise<readonly Claimed[]>;
  start(process: Process, claimed: Claimed, attempt: ModelAttempt): Promise<void>;
  /** The process dies and another one takes its place. */
  replace(process: Process): void;
  /** Every task that is overdue, as the janitor does it. */
  expireDue(process: Process): Promise<void>;
  close(): Promise<void>;
}

const NOBODY: Wakeups = {
  notify() {},
  notifyAll() {},
  subscribe: () => ({ wait: () => new Promise(() => {}), close() {} }),
  listen() {},
  told() {},
  unlisten() {},
};

export async function createWorld(folder: string, recovery: Model['recovery']): Promise<World> {
  const path = join(folder, 'history.db');
  const clock = createJumpingClock();
  const { agent, started } = createPuppetAgent(recovery);
  let count = 0;
  // Sortable, as an id of the service would be, and the same in every run of the same history.
  const ids: Ids = {
    next() {
      count += 1;
      return `id-${String(count).padStart(6, '0')}`;
    },
  };
  const digest = sha256;
  const vault = createMemoryVault({ digest, clock });
  const stores = new Map<SqliteStore, TaskStore>();
  let inFlight = 0;
  let workers = 0;

  function counted(inner: TaskStore): TaskStore {
    return new Proxy(inner, {
      get(target, name, receiver) {
        const member: unknown = Reflect.get(target, name, receiver);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          inFlight += 1;
          const result = Reflect.apply(member, target, args) as Promise<unknown>;
          return result.finally(() => {
            inFlight -= 1;
          });
        };
      },
    });
  }

  async function settle(): Promise<void> {
    do await new Promise((resolve) => setImmediate(resolve));
    while (inFlight > 0);
  }

  function process(name: string, sqlite: SqliteStore): Process {
    const store = stores.get(sqlite) ?? counted(sqlite.store);
    stores.set(sqlite, store);
    const { store: own, freeze } = createFreezableStore(store);
    workers += 1;
    const worker = `worker-${workers}`;
    let begun: Claimed[] = [];
    const operations = createOperations({
      store,
      vault,
      wakeups: NOBODY,
      clock,
      ids,
      digest,
      telemetry: silentTelemetry,
      slots: {
        reserve: () =>
          made.keepsSlots
            ? { lease: { worker, leaseMs: LEASE_MS }, begin: (claimed) => void begun.push(claimed), release() {} }
            : undefined,
      },
    });
    const made: Process = {
      ...{ name, sqlite, store: own, operations, worker, keepsSlots: false, crash: freeze },
      begun() {
        const seen = begun;
        begun = [];
        return seen;
      },
    };
    return made;
  }

  async function open(name: string): Promise<Process> {
    return process(name, await openSqliteStore({ path, clock, wakeups: NOBODY }));
  }

  const processes = [await open('one'), await open('two')];
  const running: Running[] = [];

  return {
    ...{ path, clock, processes, running, ids, settle },
    model: createModel(clock.now(), recovery),
    sent: [],
    story: [],
    async claim({ store, worker }) {
      const request = { agent: 'agent', worker, leaseMs: LEASE_MS, limit: 100 };
      return (await store.claim(request, (view) => decideBegin(view, ids.next()))).claimed;
    },
    async start(process, claimed, attempt) {
      const deps = { store: process.store, clock, digest, ids, agent, telemetry: silentTelemetry };
      const turn = startTurn(
        { ...deps, patienceMs: LEASE_MS, parkedMaxMs: PARKED_MS, capabilities: async () => ({}) },
        claimed,
      );
      const entry: Running = { attempt, process, turn, puppet: undefined, effects: [], over: false };
      void turn.done.then(() => {
        entry.over = true;
      });
      await settle();
      running.push(Object.assign(entry, { puppet: started() }));
    },
    replace(old) {
      old.crash();
      processes[processes.indexOf(old)] = process(old.name, old.sqlite);
      for (const each of running.filter((entry) => entry.process === old)) running.splice(running.indexOf(each), 1);
    },
    async expireDue({ store }) {
      for (const taskId of await store.due(1_000)) {
        await store.update({ taskId }, (view) => decideExpire(view, ids.next()));
      }
    },
    async close() {
      for (const { sqlite } of processes) await sqlite.store.close();
    },
  };
}
