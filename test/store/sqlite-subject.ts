import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openSqliteStore, type SqliteStore } from '../../adapters/sqlite/open.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { tempDir } from '../support/temp-dir.ts';
import { createRecordingWakeups, type Subject } from './subject.ts';

export interface SqliteSubject extends Subject {
  readonly sqlite: SqliteStore;
  readonly clock: ManualClock;
  readonly path: string;
}

/** A store on a real file, with time that the test moves. */
export async function openSqliteSubject(
  t: TestContext,
  path = join(tempDir(t), 'data', 'store.db'),
): Promise<SqliteSubject> {
  const clock = createManualClock();
  const wakeups = createRecordingWakeups();
  const sqlite = await openSqliteStore({ path, clock, wakeups });
  t.after(() => sqlite.store.close());
  return {
    store: sqlite.store,
    tenants: sqlite.tenants,
    operator: sqlite.operator,
    now: () => clock.now(),
    advance: (ms) => clock.advance(ms),
    notified: () => wakeups.notified(),
    sqlite,
    clock,
    path,
  };
}
