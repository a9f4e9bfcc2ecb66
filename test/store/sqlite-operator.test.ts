import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { MIGRATIONS } from '../../adapters/sqlite/migrations.ts';
import { openExistingSqliteStore } from '../../adapters/sqlite/open.ts';
import { type OpenErrorCode, SqliteOpenError } from '../../adapters/sqlite/open-error.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { tempDir } from '../support/temp-dir.ts';
import { CAROL } from './operator-scenario.ts';
import { ALICE, accept, claim } from './scenario.ts';
import { openSqliteSubject } from './sqlite-subject.ts';
import { createRecordingWakeups } from './subject.ts';

function openExisting(path: string) {
  return openExistingSqliteStore({ path, clock: createManualClock(), wakeups: createRecordingWakeups() });
}

async function refused(path: string, code: OpenErrorCode, text: RegExp): Promise<void> {
  await assert.rejects(openExisting(path), (error) => {
    assert(error instanceof SqliteOpenError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, text);
    return true;
  });
}

async function closedDatabase(t: TestContext): Promise<{ readonly path: string; readonly db: BetterSqlite3.Database }> {
  const { path, store } = await openSqliteSubject(t);
  await store.close();
  const db = new BetterSqlite3(path);
  t.after(() => db.close());
  return { path, db };
}

test('openExistingSqliteStore: works beside the store that has the file, each sees what the other commits', async (t) => {
  const subject = await openSqliteSubject(t);
  await accept(subject, { id: 't1' });
  const beside = await openExisting(subject.path);
  await beside.operator.pauseTenant(CAROL, ALICE.tenant);
  assert.deepEqual(await claim(subject), []);
  assert.deepEqual(
    (await beside.operator.tasks({ limit: 10 })).map(({ id }) => id),
    ['t1'],
  );
  await beside.operator.resumeTenant(CAROL, ALICE.tenant);
  await beside.store.close();
  assert.equal((await claim(subject)).length, 1);
});

test('openExistingSqliteStore: what is not there is not made', async (t) => {
  const folder = join(tempDir(t), 'none');
  await refused(join(folder, 'store.db'), 'MISSING', /there is no database/);
  assert.equal(existsSync(folder), false);
  mkdirSync(folder);
  await refused(folder, 'UNUSABLE', /not a file/);
  const empty = join(folder, 'empty.db');
  writeFileSync(empty, '');
  await refused(empty, 'UNUSABLE', /no database of this service/);
  const text = join(folder, 'text.db');
  writeFileSync(text, 'no database at all, and long enough to have a header. '.repeat(20));
  await refused(text, 'CORRUPT', /no SQLite database/);
});

test('openExistingSqliteStore: a schema of another program is refused and left alone', async (t) => {
  const { path, db } = await closedDatabase(t);
  const newest = MIGRATIONS.at(-1)?.version;
  db.exec("insert into migration (version, name, breaking, applied_at) values (999, 'future', 0, 0)");
  await (await openExisting(path)).store.close();
  db.exec('update migration set breaking = 1 where version = 999');
  await refused(path, 'NEWER_SCHEMA', /999/);
  db.exec(`delete from migration where version in (999, ${newest})`);
  await refused(path, 'OLDER_SCHEMA', new RegExp(`lacks schema version ${newest} `));
  assert.equal(db.prepare('select max(version) from migration').pluck().get(), MIGRATIONS.length - 1);
});

test('a paused tenant: the claim does not walk over what is held back', async (t) => {
  const subject = await openSqliteSubject(t);
  await Promise.all(Array.from({ length: 300 }, (_, n) => accept(subject, { id: `t${n}` })));
  await subject.operator.pauseTenant(CAROL, ALICE.tenant);
  await Promise.all(Array.from({ length: 100 }, (_, n) => accept(subject, { id: `later${n}` })));
  const db = new BetterSqlite3(subject.path);
  t.after(() => db.close());
  const inRange = db.prepare("select count(*) from execution where outcome = 'open' and claimable_at <= ?").pluck();
  assert.equal(inRange.get(subject.now()), 0);
  await subject.operator.resumeTenant(CAROL, ALICE.tenant);
  assert.equal(inRange.get(subject.now()), 400);
});

test('a pause: the claim asks for it by key, and for that of the runner once', async (t) => {
  const { path, sqlite } = await openSqliteSubject(t);
  const db = new BetterSqlite3(path);
  t.after(() => db.close());
  const [sql = '', ...others] = sqlite.statements.filter((each) =>
    /from runner_pause where id = 1\)\s+order by l\./.test(each),
  );
  assert.deepEqual(others, []);
  const values = Array(sql.split('?').length - 1).fill(null);
  const plan = db
    .prepare<unknown[], { id: number; parent: number; detail: string }>(`explain query plan ${sql}`)
    .all(...values);
  const details = plan.map(({ detail }) => detail);
  assert(details.some((detail) => /^SEARCH l USING INDEX lane_next \(agent=\? AND due>\?\)$/.test(detail)));
  assert(details.some((detail) => /^SEARCH p USING PRIMARY KEY \(tenant=\?\)$/.test(detail)));
  const runner = plan.find(({ detail }) => /^SEARCH runner_pause USING INTEGER PRIMARY KEY/.test(detail));
  assert.match(plan.find(({ id }) => id === runner?.parent)?.detail ?? '', /^SCALAR SUBQUERY/, 'not a correlated one');
});
