import { setTimeout as pause } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { databaseIn } from './target.ts';

/* What a bench wants to know of a service without asking it: its database is read beside it. */

export function query<T>(folder: string, sql: string, ...values: readonly unknown[]): readonly T[] {
  const db = new BetterSqlite3(databaseIn(folder), { readonly: true });
  try {
    return db.prepare(sql).all(...values) as T[];
  } finally {
    db.close();
  }
}

const LOOK_MS = 20;
const PATIENCE_MS = 600_000;

export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > limit) throw new Error(`did not come true: ${what}`);
    await pause(LOOK_MS);
  }
}

/** Turns that wait or run. */
export function openTurns(folder: string): number {
  return (
    query<{ readonly open: number }>(folder, "select count(*) as open from execution where outcome = 'open'")[0]
      ?.open ?? 0
  );
}

/** Resolves when no turn waits or runs any more. */
export function drained(folder: string): Promise<void> {
  return until('every turn is over', () => openTurns(folder) === 0);
}
