import assert from 'node:assert/strict';
import { test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { ALICE, accept, claim, claimOne, end, write } from './scenario.ts';
import { openSqliteSubject } from './sqlite-subject.ts';

/** Statements that walk a table on purpose: now and then, over rows that are few. */
const MAY_SCAN = [
  // Metrics: open turns only.
  /from execution where outcome = 'open'$/,
  // The sweep: one row for each user with live tasks.
  /^select hash from credential$/,
  // The janitor: removed tenants only.
  /^select id from tenant n where status = 'removed'/,
  // An operator: open turns only.
  /indexed by execution_open join task .* where e.outcome = 'open' and \(/s,
  // The clock was set back, asked now and then: open turns only.
  /^select 1 as one from execution indexed by execution_open where outcome = 'open' and \(/,
  /^update execution indexed by execution_open set claimable_at =\s+case/,
  // The claim: the workers that hold a lease, found one by one in an index.
  /^with recursive worker \(id\) as/,
  // An operator: tenants and owners, and what the indices say of their tasks.
  /^with known \(id\) as/,
  // A message: its sender, one row of parameters.
  /^select o\.pk as owner, .* from \(select \? as tenant, /s,
  // A list: the tasks of its page, by their keys, and what they take.
  /as artifacts from json_each\(\?\) k cross join task t/,
  /^select t\.pk,\s+coalesce.* end as bytes\s+from json_each\(\?\) k cross join task t/s,
  // An operator erases a person: one row for each user with tasks.
  /^select tenant from owner where principal = \?/,
];

const CONTROL = /^(begin|commit|rollback|savepoint|release|pragma)/;

test('statements: none but the named ones scans a table', async (t) => {
  const { path, sqlite } = await openSqliteSubject(t);
  const db = new BetterSqlite3(path);
  t.after(() => db.close());
  const explained = sqlite.statements.filter((sql) => !CONTROL.test(sql));
  assert(explained.length > 50, 'the store prepares its statements when it is opened');
  const scanning = explained.filter((sql) => {
    const values = Array(sql.split('?').length - 1).fill(null);
    const plan = db.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`).all(...values);
    // What a subquery has put in order is no table, nor is the view of attempts, which looks for a task in both of its own.
    return plan.some(({ detail }) => /^SCAN (?!\(subquery|ordered$|attempt$)/.test(detail));
  });
  const unexpected = scanning.filter((sql) => !MAY_SCAN.some((allowed) => allowed.test(sql)));
  assert.deepEqual(unexpected, []);
  assert.equal(scanning.length, MAY_SCAN.length, 'a statement that may scan no longer does: take it off the list');
});

test('statements: none is planned anew for each run, as a limit that is a bare parameter makes it', async (t) => {
  const { sqlite } = await openSqliteSubject(t);
  assert.deepEqual(
    sqlite.statements.filter((sql) => /limit\s+\?/.test(sql)),
    [],
  );
  assert(sqlite.statements.filter((sql) => sql.includes('limit (? + 0)')).length > 10);
});

test('statements: the open turns of a task are found without its past ones', async (t) => {
  const { path, sqlite } = await openSqliteSubject(t);
  const db = new BetterSqlite3(path);
  t.after(() => db.close());
  const open = sqlite.statements.filter((sql) => /from execution .*where task = \? and outcome = 'open'/s.test(sql));
  assert.equal(open.length, 1);
  for (const sql of open) {
    const plan = db.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`).all(null);
    assert.match(plan[0]?.detail ?? '', /USING INDEX execution_open \(task=\?\)/);
  }
});

test('a claim: goes by lanes and within a lane by age, each in the order of an index', async (t) => {
  const { path, sqlite } = await openSqliteSubject(t);
  const db = new BetterSqlite3(path);
  t.after(() => db.close());
  const claims = [
    [/^select l\.pk.* order by l\.due/s, /^SEARCH l USING INDEX lane_next \(agent=\? AND due>\?\)$/],
    [/^select e\.task.*where e\.lane = \?/s, /^SEARCH e USING INDEX execution_lane \(lane=\? AND claimable_at<\?\)$/],
  ] as const;
  for (const [which, search] of claims) {
    const [sql = '', ...others] = sqlite.statements.filter((each) => which.test(each));
    assert.deepEqual(others, []);
    const values = Array(sql.split('?').length - 1).fill(null);
    const plan = db.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`).all(...values);
    assert.match(plan[0]?.detail ?? '', search);
    assert.deepEqual(
      plan.filter(({ detail }) => /TEMP B-TREE|^SCAN/.test(detail)),
      [],
    );
  }
});

test('a claim: costs the same with one turn that waits and with 3,000, and with as many finished', async (t) => {
  const subject = await openSqliteSubject(t);
  const victim = { ...ALICE, tenant: 'rovo:victim' };
  const batch = (from: number, count: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => accept(subject, { id: `flood${from + n}` })));
  async function cost(id: string): Promise<number> {
    await accept(subject, { id, owner: victim });
    const before = subject.sqlite.stats().statements;
    assert.equal((await claim(subject, 'worker-1', 1))[0]?.fence.taskId, id);
    const after = subject.sqlite.stats().statements;
    await end(subject, id);
    return after - before;
  }
  await batch(0, 1);
  await claim(subject);
  const alone = await cost('v1');
  await batch(1, 3_000);
  assert.equal(await cost('v2'), alone);
  for (const { fence } of await claim(subject, 'worker-2', 3_000)) await end(subject, fence.taskId);
  await batch(4_000, 1);
  assert.equal(await cost('v3'), alone);
});

test('an append: writes the same few rows and runs the same statements, however long the artifact is', async (t) => {
  const subject = await openSqliteSubject(t);
  await accept(subject, { id: 't1' });
  const { fence } = await claimOne(subject);
  async function cost(): Promise<{ readonly rows: number; readonly statements: number }> {
    const before = subject.sqlite.stats();
    await write(subject, fence, { text: 'x'.repeat(200), joined: true });
    const after = subject.sqlite.stats();
    return { rows: after.rowsWritten - before.rowsWritten, statements: after.statements - before.statements };
  }
  await cost();
  const second = await cost();
  assert.equal(second.rows, 3, 'event, part and the task’s sequence');
  for (let n = 0; n < 500; n += 1) await cost();
  assert.deepEqual(await cost(), second);
});
