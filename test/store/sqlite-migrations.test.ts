import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { migrate } from '../../adapters/sqlite/migrate.ts';
import { MIGRATIONS } from '../../adapters/sqlite/migrations.ts';
import { SqliteOpenError } from '../../adapters/sqlite/open-error.ts';
import { tempDir } from '../support/temp-dir.ts';
import { ALICE, accept, begin, claim, claimOne, write } from './scenario.ts';
import { openSqliteSubject } from './sqlite-subject.ts';

function open(t: TestContext, path: string): BetterSqlite3.Database {
  const db = new BetterSqlite3(path);
  db.pragma('foreign_keys = on');
  t.after(() => db.close());
  return db;
}

/** Without the order of columns, which a column that is dropped and added again loses. */
function schemaOf(db: BetterSqlite3.Database): unknown {
  const entries = db
    .prepare<[], { type: string; name: string; sql: string | null }>(
      'select type, name, sql from sqlite_schema order by type, name',
    )
    .all();
  return entries.map(({ type, name, sql }) => [type, name, type === 'table' ? columnsOf(sql ?? '') : sql]);
}

/** What stands between commas that are in no parentheses but those of the table. */
function columnsOf(sql: string): readonly string[] {
  const found = [''];
  let depth = 0;
  for (const char of sql) {
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (char === ',' && depth === 1) found.push('');
    else found.push(`${found.pop()}${char}`);
  }
  const [first = '', ...others] = found;
  const { length } = others;
  const last = others[length - 1] ?? '';
  const end = last.lastIndexOf(')');
  const start = first.indexOf('(');
  const columns = [first.slice(start + 1), ...others.slice(0, -1), last.slice(0, end)];
  return [first.slice(0, start), ...columns.map((column) => column.trim()).sort(), last.slice(end)];
}

function lanes(db: BetterSqlite3.Database) {
  return db
    .prepare<[], { tenant: string; waiting: number; running: number }>(
      'select tenant, waiting, running from lane order by tenant',
    )
    .all();
}

function newer(path: string, breaking: boolean): void {
  const db = new BetterSqlite3(path);
  db.prepare('insert into migration (version, name, breaking, applied_at) values (999, ?, ?, 0)').run(
    'from-the-future',
    breaking ? 1 : 0,
  );
  db.exec('create table future (id integer) strict; alter table task add column future text');
  db.close();
}

test('migrate: every step goes back and forth and leaves the same schema', (t) => {
  const db = open(t, join(tempDir(t), 'store.db'));
  const schemas = MIGRATIONS.map(({ version }) => {
    assert.equal(migrate(db, { target: version, now: 0 }), version);
    return schemaOf(db);
  });
  for (let n = MIGRATIONS.length - 1; n >= 0; n -= 1) {
    assert.deepEqual(schemaOf(db), schemas[n], `version ${n + 1}`);
    migrate(db, { target: n, now: 0 });
  }
  assert.deepEqual(db.prepare('select count(*) as n from migration').get(), { n: 0 });
  assert.deepEqual(
    db.prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite%'").all(),
    [{ name: 'migration' }],
  );
  migrate(db, { now: 0 });
  assert.deepEqual(schemaOf(db), schemas.at(-1));
});

test('migrate: down to the first schema and up again keeps the tasks', async (t) => {
  const subject = await openSqliteSubject(t);
  await accept(subject, { id: 't1', credential: { hash: 'h', expiresAt: subject.now() + 1_000 } });
  const { fence } = await claimOne(subject);
  await write(subject, fence, { text: 'kept' });
  const before = await subject.store.read(ALICE, 't1', { artifacts: true });
  const events = await subject.store.events(ALICE, 't1', 0, 10);
  await subject.store.close();
  const db = open(t, subject.path);
  assert.equal(migrate(db, { target: 1, now: 0 }), 1);
  const again = await openSqliteSubject(t, subject.path);
  assert.deepEqual(await again.store.read(ALICE, 't1', { artifacts: true }), before);
  assert.deepEqual(await again.store.events(ALICE, 't1', 0, 10), events);
  await write(again, fence, { text: 'and goes on' });
});

test('migrate: back before the pauses, what was held back can be claimed again', async (t) => {
  const subject = await openSqliteSubject(t);
  await accept(subject, { id: 't1' });
  await subject.operator.pauseTenant({ actor: 'carol' }, ALICE.tenant);
  await accept(subject, { id: 't2' });
  assert.deepEqual(await claim(subject), []);
  await subject.store.close();
  const db = open(t, subject.path);
  assert.equal(migrate(db, { target: 2, now: 0 }), 2);
  const claimable = db.prepare('select count(*) as n from execution where claimable_at <= ?').get(subject.now());
  assert.deepEqual(claimable, { n: 2 });
  const again = await openSqliteSubject(t, subject.path);
  assert.equal((await claim(again)).length, 2);
});

test('migrate: forward to the lanes, what waits and runs is counted and goes on in its order', async (t) => {
  const subject = await openSqliteSubject(t);
  for (const id of ['t1', 't2', 't3']) await accept(subject, { id });
  await accept(subject, { id: 'b1', owner: { ...ALICE, tenant: 'rovo:site-two' } });
  await claim(subject, 'worker-1', 1);
  await subject.store.close();
  const db = open(t, subject.path);
  assert.equal(migrate(db, { target: 4, now: 0 }), 4);
  migrate(db, { now: 0 });
  assert.deepEqual(lanes(db), [
    { tenant: '', waiting: 3, running: 0 },
    { tenant: ALICE.tenant, waiting: 2, running: 1 },
    { tenant: 'rovo:site-two', waiting: 1, running: 0 },
  ]);
  const again = await openSqliteSubject(t, subject.path);
  assert.deepEqual(
    (await claim(again, 'worker-2', 2)).map(({ fence }) => fence.taskId),
    ['b1', 't2'],
  );
});

test('migrate: back before the first attempt was in the row of its turn, and forward again, nobody forgets who made it', async (t) => {
  const subject = await openSqliteSubject(t);
  await begin(subject, { id: 't1' });
  const attempts = (of: typeof subject) => of.operator.taskFile('t1').then((file) => file?.attempts);
  const made = [{ ordinal: 1, attempt: 1, worker: 'worker-1', claimedAt: subject.now() }];
  assert.deepEqual(await attempts(subject), made);
  await subject.store.close();
  const db = open(t, subject.path);
  assert.equal(migrate(db, { target: 8, now: 0 }), 8);
  assert.deepEqual(db.prepare('select ordinal, attempt, worker from turn_attempt').all(), [
    { ordinal: 1, attempt: 1, worker: 'worker-1' },
  ]);
  const again = await openSqliteSubject(t, subject.path);
  assert.deepEqual(await attempts(again), made);
  const [turn] = (await again.operator.taskFile('t1'))?.turns ?? [];
  assert.equal(turn?.worker, 'worker-1');
});

/** What it does to executions, in its words. */
const OLDER = {
  insert: `insert into execution (task, ordinal, agent, attempt, outcome, claimable_at, lost, opened_at, trace)
    select pk, 2, 'agent', 0, 'open', 0, 0, 0, null from task where id = 't1'`,
  close: `update execution set outcome = 'done', lease_owner = null, lost = 0, taken_by = null, error = null,
    ended_at = 0 where ordinal = 1 and outcome = 'open' and task = (select pk from task where id = 't1')`,
  lease: `update execution set attempt = attempt + 1, lease_owner = 'older', lost = 0, claimable_at = 9 where ordinal = 2`,
  requeue: `update execution set outcome = 'open', lease_owner = null, lost = 0, taken_by = null, error = null,
    ended_at = null, claimable_at = 0 where task = (select pk from task where id = 't1')`,
  erase: "delete from task where id = 't1'",
} as const;

test('migrate: what an older program writes beside this one is counted in its lane', async (t) => {
  const subject = await openSqliteSubject(t);
  await accept(subject, { id: 't1' });
  await accept(subject, { id: 't2', owner: { ...ALICE, tenant: 'rovo:site-two' } });
  await subject.store.close();
  const db = open(t, subject.path);
  // As an execution is that had ended before there were lanes.
  db.exec("update execution set outcome = 'done' where task = (select pk from task where id = 't1')");
  db.exec("update execution set lane = null where task = (select pk from task where id = 't1')");
  db.exec(`delete from lane where tenant = '${ALICE.tenant}'`);
  const counted = (act: keyof typeof OLDER) => {
    db.exec(OLDER[act]);
    const found = new Map(lanes(db).map((lane) => [lane.tenant, lane]));
    const { waiting, running } = found.get(ALICE.tenant) ?? assert.fail(`no lane after ${act}`);
    return [act, waiting, running, found.get('')?.waiting];
  };
  assert.deepEqual(counted('requeue'), ['requeue', 1, 0, 2]);
  assert.deepEqual(counted('insert'), ['insert', 2, 0, 3]);
  assert.deepEqual(counted('close'), ['close', 1, 0, 2]);
  assert.deepEqual(counted('lease'), ['lease', 0, 1, 1]);
  assert.deepEqual(counted('requeue'), ['requeue', 2, 0, 3]);
  assert.deepEqual(counted('erase'), ['erase', 0, 0, 1]);
});

test('migrate: a step that fails leaves the schema before it', (t) => {
  const db = open(t, join(tempDir(t), 'store.db'));
  const migrations = [
    ...MIGRATIONS,
    { version: 99, name: 'half', breaking: true, up: 'create table half (id integer); create nonsense', down: '' },
  ];
  const before = MIGRATIONS.at(-1)?.version;
  assert.throws(() => migrate(db, { now: 0, migrations }), /nonsense/);
  assert.equal(db.prepare("select 1 from sqlite_schema where name = 'half'").get(), undefined);
  assert.equal(migrate(db, { now: 0 }), before);
});

test('migrate: a step may rebuild a table without losing what refers to it, but may not orphan anything', async (t) => {
  const subject = await openSqliteSubject(t);
  await accept(subject, { id: 't1' });
  await subject.store.close();
  const db = open(t, subject.path);
  const version = MIGRATIONS.length + 1;
  const rebuild = 'create table copy as select * from owner; drop table owner; alter table copy rename to owner;';
  const index = 'create unique index owner_pk on owner (pk);';
  const step = { version, name: 'step', breaking: true, down: '' };
  const orphaning = `${rebuild} ${index} delete from owner;`;
  assert.throws(
    () => migrate(db, { now: 0, migrations: [...MIGRATIONS, { ...step, up: orphaning }] }),
    /without their/,
  );
  migrate(db, { now: 0, migrations: [...MIGRATIONS, { ...step, up: `${rebuild} ${index}` }] });
  assert.equal(db.pragma('foreign_keys', { simple: true }), 1);
  assert.deepEqual(db.prepare('select count(*) as n from event').get(), { n: 1 });
  assert.deepEqual(db.prepare('select count(*) as n from context').get(), { n: 1 });
});

test('migrate: versions are numbered from 1 without gaps', () => {
  assert.deepEqual(
    MIGRATIONS.map(({ version }) => version),
    MIGRATIONS.map((_, n) => n + 1),
  );
});

test('SqliteStore: a newer breaking schema is refused, naming both versions', async (t) => {
  const { path, store } = await openSqliteSubject(t);
  await store.close();
  newer(path, true);
  await assert.rejects(openSqliteSubject(t, path), (error) => {
    assert(error instanceof SqliteOpenError);
    assert.equal(error.code, 'NEWER_SCHEMA');
    assert.match(error.message, /999/);
    assert.match(error.message, new RegExp(`knows ${MIGRATIONS.at(-1)?.version}\\b`));
    return true;
  });
});

test('SqliteStore: a newer schema that is not breaking is worked on, and only its own program undoes it', async (t) => {
  const first = await openSqliteSubject(t);
  await accept(first, { id: 't1' });
  await first.store.close();
  newer(first.path, false);
  const second = await openSqliteSubject(t, first.path);
  assert.equal((await second.store.record(ALICE, 't1'))?.id, 't1');
  await accept(second, { id: 't2' });
  assert.equal((await claim(second)).length, 2);
  await second.store.close();
  const db = open(t, first.path);
  assert.throws(
    () => migrate(db, { target: 1, now: 0 }),
    (error) => error instanceof SqliteOpenError && error.code === 'NEWER_SCHEMA',
  );
});
