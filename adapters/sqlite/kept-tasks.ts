import type { Connection, Query } from './database.ts';
import type { OpenRow } from './executions.ts';
import { type Held, storedRecord } from './task-rows.ts';

/*
 * Tasks as transactions of this connection left them, for the next write of their turns, which need not read what this very
 * connection wrote a moment ago. One is kept only as long as a read would answer the same:
 * - whoever changes a task keeps what it made of it, or drops it (changes.ts);
 * - when a row that one is read from is written by anything else here, or a transaction is rolled back, the connection's
 *   revision moves and all of them are dropped;
 * - so they are when another process has committed, which each transaction asks once before it uses one.
 * Nothing in it depends on the time: leases hold until somebody else claims the turn, and a credential has its own end.
 */

/** Oldest first: a turn that is silent for so long may as well read. */
const TASKS_MAX = 256;
/** Of the JSON of one. With the above 4 MB at most, and nearly all tasks are far below. */
const TASK_CHARS = 8_192;

export type KeptTask = Held & { readonly open: readonly OpenRow[] };

/** Emptied when its task leaves: see core/registry.ts for who else holds it. */
interface Cell {
  held: KeptTask | undefined;
}

export interface KeptTasks {
  /** For a transaction that writes. */
  find(taskId: string): KeptTask | undefined;
  keep(held: KeptTask): void;
  drop(taskId: string): void;
}

export function createKeptTasks(connection: Connection): KeptTasks {
  const { counters } = connection;
  const selectVersion: Query<[], { data_version: number }> = connection.prepare('pragma data_version');
  const cells = new Map<string, Cell>();
  let revision = connection.revision;
  /** Nobody else has committed since anything here was kept, if it is still that. */
  let version = selectVersion.get()?.data_version;
  /** Commits when that was asked. */
  let asked = Number.NaN;

  function dropAll(): void {
    for (const cell of cells.values()) cell.held = undefined;
    cells.clear();
  }

  function settle(): void {
    if (revision === connection.revision) return;
    revision = connection.revision;
    dropAll();
  }

  /** Nobody else has committed. Otherwise all are dropped. */
  function isAlone(): boolean {
    if (asked === counters.commits) return true;
    asked = counters.commits;
    const seen = version;
    version = selectVersion.get()?.data_version;
    if (version === seen) return true;
    dropAll();
    return false;
  }

  function drop(taskId: string): void {
    const cell = cells.get(taskId);
    if (!cell) return;
    cell.held = undefined;
    cells.delete(taskId);
  }

  return {
    find(taskId) {
      settle();
      const held = cells.get(taskId)?.held;
      if (!held || !isAlone()) return undefined;
      // Anew from its texts, as a read would make it: of the first one others have parts, and may have changed them.
      return { ...held, record: storedRecord(held.record, held.texts) };
    },
    keep(held) {
      settle();
      const { id } = held.record;
      const cell = cells.get(id);
      const { status, metadata } = held.texts;
      if (status.length + (metadata?.length ?? 0) > TASK_CHARS) drop(id);
      else if (cell) cell.held = held;
      else {
        const [oldest] = cells.size < TASKS_MAX ? [] : cells.keys();
        if (oldest !== undefined) drop(oldest);
        cells.set(id, { held });
      }
    },
    drop,
  };
}
