import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import BetterSqlite3 from 'better-sqlite3';
import { type Ran, runOps } from '../ops/run-ops.ts';
import { launchService, type ServiceProcess } from '../support/service-process.ts';
import { tempDir } from '../support/temp-dir.ts';
import { told, verifyFile } from '../verify/verify-file.ts';
import { REACHED } from './arm.ts';
import { type Counted, counted } from './counter.ts';

/*
 * One database file and the processes that live and die on it. Everything is real: the shipped program, its files, its
 * sockets, SIGKILL.
 */

export type Policy = 'rerun' | 'review';
export const POLICIES = ['rerun', 'review'] as const;

type Settings = Readonly<Record<string, string>>;

export interface Stage {
  readonly path: string;
  /** The shipped program, when it listens. */
  start(settings?: Settings): Promise<ServiceProcess>;
  /** The same, not waited for: it may be refused. */
  launch(): ServiceProcess;
  /** The same, to die at that point. Not waited for: it may die before it listens. */
  launchToDie(point: string, settings?: Settings): ServiceProcess;
  /** The operator's command line on the same file, to die at that point. */
  operateToDie(point: string, ...args: readonly string[]): ServiceProcess;
  /** The same, to its end. */
  operate(...args: readonly string[]): Promise<Ran>;
  /** It has died there and nowhere else, and the file that it left is whole. */
  died(service: ServiceProcess): Promise<void>;
  /** States of all tasks. */
  states(): readonly string[];
  /** Text of the artifacts as it is stored. */
  written(): string;
  /** Lets agents go on that wait until a client has seen something. */
  watched(): void;
  isWatched(): boolean;
  /** Agents wait again. */
  unwatched(): void;
  counted(taskId?: string): Counted;
  /** Reads the file beside the service. */
  query<T>(sql: string, ...values: readonly unknown[]): readonly T[];
  /** The verifier has nothing to say about the file. `stopped`: no service is there to do what is due. */
  expectClean(options?: { readonly stopped: boolean }): Promise<void>;
}

const OPS = fileURLToPath(new URL('./ops-under-fault.js', import.meta.url));
const UNDER_FAULT = new URL('./service-under-fault.js', import.meta.url);
/** How long a turn whose process is gone is waited for. Much longer than a busy machine delays a heartbeat. */
const LEASE_MS = '1500';

export function agentOf(policy: Policy): string {
  return `module:${fileURLToPath(new URL(`./agents/${policy}.js`, import.meta.url))}`;
}

export function createStage(t: TestContext, policy: Policy, common: Settings = {}): Stage {
  const processes: ServiceProcess[] = [];
  // Before the folder goes, which was made after this.
  t.after(async () => {
    for (const service of processes) service.signal('SIGKILL');
    await Promise.all(processes.map((service) => service.exited()));
  });
  const directory = tempDir(t);
  const path = common.DATABASE_URL?.replace('sqlite:', '') ?? join(directory, 'connector.db');
  const counter = join(directory, 'counter');
  const watchedFile = join(directory, 'watched');
  const settings: Settings = {
    A2A_AUTH: 'anonymous',
    DATABASE_URL: `sqlite:${path}`,
    AGENT: agentOf(policy),
    COUNTER_FILE: counter,
    WATCHED_FILE: watchedFile,
    LEASE_MS,
    ...common,
  };

  function launched(service: ServiceProcess): ServiceProcess {
    processes.push(service);
    return service;
  }

  const stage: Stage = {
    path,
    async start(more) {
      const service = launched(launchService({ directory, settings: { ...settings, ...more } }));
      await service.ready();
      return service;
    },
    launch: () => launched(launchService({ directory, settings })),
    launchToDie: (point, more) =>
      launched(
        launchService({
          ...{ directory, settings: { ...settings, ...more } },
          preload: [`${UNDER_FAULT}?point=${encodeURIComponent(point)}`],
        }),
      ),
    operateToDie: (point, ...args) => launched(launchService({ directory, settings, program: [OPS, point, ...args] })),
    operate: (...args) => runOps({ directory, env: { DATABASE_URL: `sqlite:${path}` } }, ...args),
    async died(service) {
      assert.equal(await service.exited(), 'SIGKILL', service.output());
      // Another thread may have written a line before the signal had come to it.
      assert.ok(
        service.log().some(({ event }) => event === REACHED),
        service.output(),
      );
      await stage.expectClean({ stopped: true });
    },
    states: () =>
      stage
        .query<{ state: string }>('select state from task order by pk')
        .map(({ state }) => state.replace('TASK_STATE_', '')),
    written: () =>
      stage
        .query<{ json: string }>('select json from artifact_part order by artifact, position')
        .map(({ json }) => (JSON.parse(json) as { readonly text: string }).text)
        .join(''),
    watched: () => writeFileSync(watchedFile, ''),
    isWatched: () => existsSync(watchedFile),
    unwatched: () => rmSync(watchedFile, { force: true }),
    counted: (taskId) => counted(counter, taskId),
    query(sql, ...values) {
      const db = new BetterSqlite3(path, { readonly: true });
      try {
        return db.prepare(sql).all(...values) as never;
      } finally {
        db.close();
      }
    },
    async expectClean({ stopped } = { stopped: false }) {
      const staleAfterMs = stopped ? Number.POSITIVE_INFINITY : 600_000;
      assert.deepEqual(told(await verifyFile(path, Date.now(), staleAfterMs)), [], 'the verifier');
    },
  };
  return stage;
}
