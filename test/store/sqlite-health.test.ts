import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { openConnection } from '../../adapters/sqlite/database.ts';
import { createGroupCommit } from '../../adapters/sqlite/group-commit.ts';
import { createHealth } from '../../adapters/sqlite/health.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { tempDir } from '../support/temp-dir.ts';
import { rejectsWith } from './scenario.ts';
import { createRecordingWakeups } from './subject.ts';

const SECOND = 1_000;

function recorder() {
  const said: unknown[] = [];
  const available: number[] = [];
  let failures = 0;
  const telemetry: Telemetry = {
    ...silentTelemetry,
    event: (level, name, { reason, operations, durationMs } = {}) =>
      said.push([level, name, reason, operations, durationMs]),
    gauge: (_name, value) => available.push(value),
    count: (_name, _labels, by = 1) => {
      failures += by;
    },
  };
  return { said, available, telemetry, failures: () => failures };
}

const full = () => new BetterSqlite3.SqliteError('database or disk is full', 'SQLITE_FULL');
const busy = () => new BetterSqlite3.SqliteError('database is locked', 'SQLITE_BUSY');

test('health: trouble is said when it begins, again each minute, and when it has been over for a while', () => {
  const clock = createManualClock();
  const { said, available, telemetry, failures } = recorder();
  const health = createHealth({ clock, telemetry });
  for (let count = 0; count < 1_000; count += 1) assert.equal(health.failed(full()).storeFault, 'full');
  clock.advance(59 * SECOND);
  health.failed(full(), 5);
  assert.equal(said.length, 1);
  clock.advance(SECOND);
  health.failed(full());
  // A small write may still fit.
  health.worked();
  clock.advance(4 * SECOND);
  health.worked();
  assert.equal(said.length, 2);
  clock.advance(SECOND);
  health.worked();
  health.worked();
  assert.deepEqual(said, [
    ['error', 'store.unavailable', 'full', 1, undefined],
    ['error', 'store.unavailable', 'full', 1_006, 60 * SECOND],
    ['warn', 'store.available', 'full', 1_006, 65 * SECOND],
  ]);
  assert.deepEqual(available, [0, 0, 1]);
  assert.equal(failures(), 1_006);
});

test('health: faults that take turns are said once each', () => {
  const { said, telemetry } = recorder();
  const health = createHealth({ clock: createManualClock(), telemetry });
  for (let count = 0; count < 10; count += 1) {
    health.failed(full());
    health.failed(busy());
  }
  assert.equal(said.length, 2);
});

test('health: what was found damaged stays so, whatever works afterwards', () => {
  const clock = createManualClock();
  const health = createHealth({ clock });
  assert.equal(health.lost, undefined);
  health.failed(new BetterSqlite3.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT_INDEX'));
  clock.advance(60 * SECOND);
  health.worked();
  assert.equal(health.lost, 'damaged');
  assert.equal(health.failed(full()).storeFault, 'damaged');
});

function openFile(t: TestContext) {
  const clock = createManualClock();
  const path = join(tempDir(t), 'store.db');
  const connection = openConnection(path, { now: clock.now(), health: createHealth({ clock }) });
  t.after(() => connection.close());
  const writes = createGroupCommit({ connection, clock, wakeups: createRecordingWakeups() });
  const write = () =>
    writes.run(({ now }) => connection.db.prepare('insert or replace into probe values (1, ?)').run(now));
  const read = () => connection.snapshot(() => connection.db.prepare('select at from probe').get());
  return { path, writes, write, read };
}

test('files: while they are away nothing is written or shown, and everything again when they are back', async (t) => {
  const { path, write, read } = openFile(t);
  await write();
  renameSync(`${path}-wal`, `${path}-wal.away`);
  await rejectsWith(write(), 'STORE_UNAVAILABLE');
  assert.throws(read, { code: 'STORE_UNAVAILABLE', storeFault: 'moved' });
  renameSync(`${path}-wal.away`, `${path}-wal`);
  await write();
  assert.ok(read());
});

test('files: a commit that they went away under is answered as failed, and nothing is tried again on them', async (t) => {
  const { path, writes, write, read } = openFile(t);
  await write();
  const moved = writes.run(() => renameSync(path, `${path}.away`));
  await rejectsWith(moved, 'STORE_UNAVAILABLE');
  // Whoever tried again now could find its own commit, and a second one.
  renameSync(`${path}.away`, path);
  await rejectsWith(write(), 'STORE_UNAVAILABLE');
  assert.throws(read, { code: 'STORE_UNAVAILABLE', storeFault: 'moved' });
});

test('files: another process may empty the log in a checkpoint', async (t) => {
  const { path, write, read } = openFile(t);
  await write();
  const other = new BetterSqlite3(path);
  assert.deepEqual(other.pragma('wal_checkpoint(truncate)'), [{ busy: 0, log: 0, checkpointed: 0 }]);
  await write();
  other.pragma('wal_checkpoint(truncate)');
  other.prepare('insert or replace into probe values (1, 5)').run();
  other.close();
  await write();
  assert.ok(read());
});
