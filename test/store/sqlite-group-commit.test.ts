import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { openConnection } from '../../adapters/sqlite/database.ts';
import { createGroupCommit } from '../../adapters/sqlite/group-commit.ts';
import { createHealth } from '../../adapters/sqlite/health.ts';
import { isDomainError } from '../../core/errors.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { tempDir } from '../support/temp-dir.ts';
import { ALICE, accept, create, rejectsWith, requestFor } from './scenario.ts';
import { openSqliteSubject } from './sqlite-subject.ts';
import { createRecordingWakeups } from './subject.ts';

function rival(t: TestContext, path: string): BetterSqlite3.Database {
  const db = new BetterSqlite3(path, { timeout: 0 });
  t.after(() => db.close());
  return db;
}

/** Lets what is scheduled run, and moves the clock so that pauses between attempts end. */
async function until(condition: () => boolean, move: () => void): Promise<void> {
  for (let turn = 0; turn < 1_000; turn += 1) {
    if (condition()) return;
    await new Promise((resolve) => setImmediate(resolve));
    move();
  }
  assert.fail('the condition never came true');
}

test('group commit: operations that arrive together share commits of at most 40', async (t) => {
  const subject = await openSqliteSubject(t);
  const before = subject.sqlite.stats().commits;
  await Promise.all(Array.from({ length: 40 }, (_, n) => accept(subject, { id: `a${n}` })));
  assert.equal(subject.sqlite.stats().commits - before, 1);
  await Promise.all(Array.from({ length: 41 }, (_, n) => accept(subject, { id: `b${n}` })));
  assert.equal(subject.sqlite.stats().commits - before, 3);
});

/** Writes for which `takeWaiting` brings what a test has put there, a `batch` at a time. */
function openWrites(t: TestContext, batch: number) {
  const clock = createManualClock();
  const connection = openConnection(join(tempDir(t), 'store.db'), {
    now: clock.now(),
    health: createHealth({ clock }),
  });
  const late: (() => void)[] = [];
  const takeWaiting = (): void => {
    for (const run of late.splice(0, batch)) run();
  };
  const writes = createGroupCommit({ connection, clock, wakeups: createRecordingWakeups(), takeWaiting });
  t.after(() => {
    writes.close();
    connection.close();
  });
  const insert = connection.prepare<[]>(
    'insert into probe (id, at) values (1, 0) on conflict (id) do update set at = at + 1',
  );
  return { connection, writes, late, write: () => void insert.run() };
}

test('group commit: what comes while a group is written goes with it, for as long as there is room', async (t) => {
  const { connection, writes, late, write } = openWrites(t, 25);
  const joined: Promise<void>[] = [];
  for (let n = 0; n < 50; n += 1) late.push(() => void joined.push(writes.run(write)));
  await Promise.all([writes.run(write), writes.run(write), writes.run(write)]);
  assert.equal(connection.counters.commits, 1);
  assert.equal(joined.length, 50);
  await Promise.all(joined.slice(0, 37));
  assert.equal(connection.counters.commits, 1);
  await Promise.all(joined);
  assert.equal(connection.counters.commits, 2);
});

test('group commit: what joined a group and has to be undone is undone alone, and nobody joins while that is done', async (t) => {
  const { connection, writes, late, write } = openWrites(t, 1);
  const refusal = new Error('refused after it wrote');
  const outcomes: Promise<PromiseSettledResult<void>[]>[] = [];
  const refused = (): void => {
    write();
    throw refusal;
  };
  late.push(
    () => void outcomes.push(Promise.allSettled([writes.run(refused)])),
    () => void outcomes.push(Promise.allSettled([writes.run(write)])),
  );
  await writes.run(write);
  assert.equal(late.length, 1);
  await writes.run(write);
  const [first, second] = (await Promise.all(outcomes)).flat();
  assert.deepEqual(first, { status: 'rejected', reason: refusal });
  assert.equal(second?.status, 'fulfilled');
  assert.deepEqual(connection.db.prepare('select at from probe').get(), { at: 2 });
});

test('group commit: a group tells once that there is work, however many of its operations say so', async (t) => {
  const subject = await openSqliteSubject(t);
  await Promise.all([1, 2, 3].map((n) => accept(subject, { id: `t${n}` })));
  assert.deepEqual(
    subject.notified().filter((topic) => topic === 'work'),
    ['work'],
  );
});

test('group commit: each commit is counted once, however many operations it holds, and a failed one not at all', async (t) => {
  const clock = createManualClock();
  const connection = openConnection(join(tempDir(t), 'store.db'), {
    now: clock.now(),
    health: createHealth({ clock }),
  });
  const counted: string[] = [];
  const telemetry = { ...silentTelemetry, count: (metric: string) => void counted.push(metric) };
  const writes = createGroupCommit({ connection, clock, wakeups: createRecordingWakeups(), telemetry });
  await Promise.all([1, 2, 3].map(() => writes.run(() => connection.db.prepare('delete from probe').run())));
  assert.deepEqual(counted, ['a2a_store_commits_total']);
  const lost = writes.run(() => {
    connection.db.pragma('defer_foreign_keys = on');
    connection.db.prepare("insert into message (task, ordinal, json) values (404, 1, '{}')").run();
  });
  await assert.rejects(lost);
  assert.deepEqual(counted, ['a2a_store_commits_total']);
  writes.close();
  connection.db.close();
});

test('group commit: a refused operation is undone alone and wakes nobody', async (t) => {
  const subject = await openSqliteSubject(t);
  const refusal = new Error('refused after it wrote');
  const results = await Promise.allSettled([
    accept(subject, { id: 'first' }),
    accept(subject, { id: 'broken', change: { executions: [{ open: 1 }, { close: 9, outcome: 'done' }] } }),
    subject.store.accept(requestFor({ id: 'thrown' }), () => {
      throw refusal;
    }),
    accept(subject, { id: 'first' }),
    accept(subject, { id: 'last' }),
  ]);
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? 'ok' : (result.reason?.code ?? result.reason))),
    ['ok', 'INTERNAL', refusal, 'STORE_UNAVAILABLE', 'ok'],
  );
  assert.equal(subject.sqlite.stats().commits, 1);
  assert.equal(await subject.store.record(ALICE, 'broken'), undefined);
  assert.deepEqual((await subject.store.list(ALICE, { filter: {}, limit: 9, artifacts: false })).total, 2);
  assert.deepEqual(
    subject
      .notified()
      .filter((topic) => topic.startsWith('task:'))
      .sort(),
    ['task:first', 'task:last'],
  );
});

test('group commit: nobody hears of a write before another connection can read it', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const clock = createManualClock();
  const connection = openConnection(path, { now: clock.now(), health: createHealth({ clock }) });
  const reader = rival(t, path);
  const committed = () => reader.prepare('select count(*) as n from probe').get();
  const heard: unknown[] = [];
  const wakeups = { ...createRecordingWakeups(), notify: () => heard.push(committed()) };
  const writes = createGroupCommit({ connection, clock, wakeups });
  await writes
    .run((tx) => {
      connection.db.prepare('insert into probe (id, at) values (1, 0)').run();
      tx.notify('work');
      assert.deepEqual(committed(), { n: 0 });
    })
    .then(() => heard.push(committed()));
  assert.deepEqual(heard, [{ n: 1 }, { n: 1 }]);
  writes.close();
  connection.close();
});

test('group commit: when COMMIT fails every promise of the group says so and nothing is stored', async (t) => {
  const clock = createManualClock();
  const connection = openConnection(join(tempDir(t), 'store.db'), {
    now: clock.now(),
    health: createHealth({ clock }),
  });
  const wakeups = createRecordingWakeups();
  const writes = createGroupCommit({ connection, clock, wakeups });
  const probe = () => connection.db.prepare('insert or replace into probe (id, at) values (1, 7)').run();
  const results = await Promise.allSettled([
    writes.run((tx) => {
      probe();
      tx.notify('work');
    }),
    writes.run(() => {
      connection.db.pragma('defer_foreign_keys = on');
      connection.db.prepare("insert into message (task, ordinal, json) values (404, 1, '{}')").run();
    }),
    writes.run(() => {
      throw new Error('refused anyway');
    }),
  ]);
  for (const result of results) {
    assert(result.status === 'rejected' && isDomainError(result.reason, 'STORE_UNAVAILABLE'));
    assert.equal(result.reason.retryAfterMs, 1_000);
  }
  assert.deepEqual(connection.db.prepare('select count(*) as n from probe').get(), { n: 0 });
  assert.deepEqual(wakeups.notified(), []);
  await writes.run(probe);
  assert.deepEqual(connection.db.prepare('select count(*) as n from probe').get(), { n: 1 });
  writes.close();
  connection.close();
});

test('group commit: a full disk takes the whole group back, and the store works again when there is room', async (t) => {
  const subject = await openSqliteSubject(t);
  await accept(subject, { id: 'before' });
  const pages = Number(subject.sqlite.pragma('page_count'));
  subject.sqlite.pragma(`max_page_count = ${pages + 2}`);
  const results = await Promise.allSettled([
    accept(subject, { id: 'small' }),
    accept(subject, { id: 'large', text: 'x'.repeat(100_000) }),
  ]);
  for (const result of results) {
    assert(result.status === 'rejected' && isDomainError(result.reason, 'STORE_UNAVAILABLE'));
    assert.doesNotMatch(result.reason.message, /sqlite|disk|full/i);
  }
  assert.equal(await subject.store.record(ALICE, 'small'), undefined);
  subject.sqlite.pragma('max_page_count = 1000000');
  assert.equal((await accept(subject, { id: 'small' })).record.id, 'small');
});

test('group commit: a busy database is waited for without blocking, then written', async (t) => {
  const subject = await openSqliteSubject(t);
  const other = rival(t, subject.path);
  other.exec('begin immediate');
  let done = false;
  const accepted = accept(subject, { id: 't1' }).finally(() => {
    done = true;
  });
  let turns = 0;
  await until(
    () => turns >= 3,
    () => {
      turns += 1;
      subject.advance(500);
    },
  );
  assert.equal(done, false);
  assert.equal(await subject.store.record(ALICE, 't1'), undefined);
  other.exec('commit');
  await until(
    () => done,
    () => subject.advance(500),
  );
  assert.equal((await accepted).record.id, 't1');
});

test('group commit: a database that stays busy is unavailable in the end, and ping says so', async (t) => {
  const subject = await openSqliteSubject(t);
  const other = rival(t, subject.path);
  other.exec('begin immediate');
  const outcomes = Promise.allSettled([accept(subject, { id: 't1' }), subject.store.ping()]);
  let settled = false;
  outcomes.then(() => {
    settled = true;
  });
  await until(
    () => settled,
    () => subject.advance(500),
  );
  for (const result of await outcomes) {
    assert(result.status === 'rejected' && isDomainError(result.reason, 'STORE_UNAVAILABLE'));
    assert.equal(result.reason.retryAfterMs, 1_000);
  }
  other.exec('rollback');
  await subject.store.ping();
  assert.equal(await subject.store.record(ALICE, 't1'), undefined);
});

test('group commit: closing while the database is busy refuses what waits instead of losing it silently', async (t) => {
  const subject = await openSqliteSubject(t);
  rival(t, subject.path).exec('begin immediate');
  const waiting = Promise.allSettled([accept(subject, { id: 't1' })]);
  await subject.store.close();
  const [result] = await waiting;
  assert(result?.status === 'rejected' && isDomainError(result.reason, 'STORE_UNAVAILABLE'));
});

test('group commit: a read inside a decide function is refused instead of seeing what is not committed', async (t) => {
  const subject = await openSqliteSubject(t);
  let read: Promise<unknown> | undefined;
  await subject.store.accept(requestFor({ id: 't1' }), (view) => {
    read = subject.store.record(ALICE, 't1');
    read.catch(() => undefined);
    return create(view, { id: 't1' });
  });
  assert(read);
  await rejectsWith(read, 'INTERNAL');
});
