import assert from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { openSqliteStore } from '../../adapters/sqlite/open.ts';
import { type OpenErrorCode, SqliteOpenError } from '../../adapters/sqlite/open-error.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { tempDir } from '../support/temp-dir.ts';
import { ALICE, accept, rejectsWith } from './scenario.ts';
import { openSqliteSubject } from './sqlite-subject.ts';
import { createRecordingWakeups } from './subject.ts';

async function refused(path: string, code: OpenErrorCode): Promise<void> {
  const opening = openSqliteStore({ path, clock: createManualClock(), wakeups: createRecordingWakeups() });
  await assert.rejects(opening, (error) => {
    assert(error instanceof SqliteOpenError, String(error));
    assert.equal(error.code, code);
    return true;
  });
}

/** A file with enough in it that a hole hits something. */
async function filled(t: TestContext): Promise<string> {
  const path = join(tempDir(t), 'store.db');
  const subject = await openSqliteSubject(t, path);
  await Promise.all(Array.from({ length: 200 }, (_, n) => accept(subject, { id: `t${n}`, text: 'x'.repeat(500) })));
  await subject.store.close();
  return path;
}

test('SqliteStore: a new database and its folder are nobody else’s to read', async (t) => {
  const { path, store } = await openSqliteSubject(t);
  await store.ping();
  for (const file of [path, `${path}-wal`, `${path}-shm`]) assert.equal(statSync(file).mode & 0o777, 0o600, file);
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700);
});

test('SqliteStore: every connection says synchronous=2, WAL and foreign keys', async (t) => {
  const first = await openSqliteSubject(t);
  const second = await openSqliteSubject(t, first.path);
  for (const { sqlite } of [first, second]) {
    assert.equal(sqlite.pragma('synchronous'), 2);
    assert.equal(sqlite.pragma('journal_mode'), 'wal');
    assert.equal(sqlite.pragma('foreign_keys'), 1);
    assert.equal(sqlite.pragma('busy_timeout'), 50);
  }
});

test('SqliteStore: what was committed is there after the file was closed and opened again', async (t) => {
  const first = await openSqliteSubject(t);
  const { record } = await accept(first, { id: 't1' });
  await first.store.close();
  const second = await openSqliteSubject(t, first.path);
  assert.deepEqual(await second.store.record(ALICE, 't1'), record);
});

test('SqliteStore: a database behind a symbolic link is the one that the link leads to', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const link = join(tempDir(t), 'link.db');
  symlinkSync(path, link);
  const first = await openSqliteSubject(t, link);
  const { record } = await accept(first, { id: 't1' });
  await first.store.close();
  const second = await openSqliteSubject(t, path);
  assert.deepEqual(await second.store.record(ALICE, 't1'), record);
});

test('SqliteStore: a file that is no database is refused', async (t) => {
  const path = join(tempDir(t), 'store.db');
  writeFileSync(path, 'a letter to grandmother, long enough to be taken for a header '.repeat(100));
  await refused(path, 'CORRUPT');
});

test('SqliteStore: a file that lost its end is refused', async (t) => {
  const path = await filled(t);
  const file = openSync(path, 'r+');
  ftruncateSync(file, Math.floor(statSync(path).size / 2));
  closeSync(file);
  await refused(path, 'CORRUPT');
});

test('SqliteStore: a file with overwritten pages is refused', async (t) => {
  const path = await filled(t);
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(8 * 4_096, 0xa5), 0, 8 * 4_096, 8 * 4_096);
  closeSync(file);
  await refused(path, 'CORRUPT');
});

test('SqliteStore: a path that cannot be a file is refused', async (t) => {
  const folder = join(tempDir(t), 'store.db');
  mkdirSync(folder);
  await refused(folder, 'UNUSABLE');
  const file = join(tempDir(t), 'file');
  writeFileSync(file, '');
  await refused(join(file, 'store.db'), 'UNUSABLE');
});

test('SqliteStore: folders are made on the way to the file; where none can be made it is refused at once', async (t) => {
  const path = join(tempDir(t), 'one', 'two', 'three', 'store.db');
  const { store } = await openSqliteSubject(t, path);
  await store.ping();
  for (const folder of [join(path, '..'), join(path, '..', '..')]) assert.equal(statSync(folder).mode & 0o777, 0o700);
  // The kernel's own file system says of a folder in it that it is not there, however often it is made.
  if (existsSync('/proc/self')) await refused('/proc/nowhere/deeper/store.db', 'UNUSABLE');
});

test('SqliteStore: close commits what waits, and everything after it is unavailable', async (t) => {
  const subject = await openSqliteSubject(t);
  const { store, tenants } = subject;
  const waiting = Promise.all(Array.from({ length: 200 }, (_, n) => accept(subject, { id: `t${n}` })));
  await store.close();
  await waiting;
  const db = new BetterSqlite3(subject.path, { readonly: true });
  t.after(() => db.close());
  assert.deepEqual(db.prepare('select count(*) as n from task').get(), { n: 200 });
  await store.close();
  await rejectsWith(accept(subject, { id: 'late' }), 'STORE_UNAVAILABLE');
  await rejectsWith(store.record(ALICE, 't1'), 'STORE_UNAVAILABLE');
  await rejectsWith(store.ping(), 'STORE_UNAVAILABLE');
  await rejectsWith(tenants.get('x'), 'STORE_UNAVAILABLE');
});
