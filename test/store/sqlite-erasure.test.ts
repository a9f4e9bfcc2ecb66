import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { withTime } from './operator-scenario.ts';
import { ALICE, accept, BOB, claim, end, say, write } from './scenario.ts';
import { openSqliteSubject, type SqliteSubject } from './sqlite-subject.ts';

/** Tables of the whole database with a row in which one of the texts stands, whatever tables there will be. */
function tablesWith({ path }: SqliteSubject, ...texts: readonly string[]): readonly string[] {
  const db = new BetterSqlite3(path, { readonly: true });
  try {
    const tables = db.prepare<[], string>("select name from sqlite_schema where type = 'table'").pluck().all();
    const holds = (row: Record<string, unknown>) =>
      Object.values(row).some((value) => texts.some((text) => String(value).includes(text)));
    return tables.filter((table) =>
      db.prepare<[], Record<string, unknown>>(`select * from "${table}"`).all().some(holds),
    );
  } finally {
    db.close();
  }
}

/** How many rows each table has; those that count no task's data are left out. */
function counts({ path }: SqliteSubject): Readonly<Record<string, number>> {
  const db = new BetterSqlite3(path, { readonly: true });
  try {
    const tables = db.prepare<[], string>("select name from sqlite_schema where type = 'table'").pluck().all();
    const kept = new Set(['migration', 'tenant', 'probe', 'audit']);
    const rows = tables
      .filter((table) => !kept.has(table))
      .map((table) => [table, db.prepare<[], number>(`select count(*) from "${table}"`).pluck().get() ?? 0] as const);
    return Object.fromEntries(rows.filter(([, count]) => count > 0));
  } finally {
    db.close();
  }
}

/** A task with everything that can hang on one. */
async function fill(subject: SqliteSubject, id: string, owner = ALICE): Promise<void> {
  const { store } = subject;
  const credential = { hash: `hash-${id}`, expiresAt: subject.now() + 1_000_000, sealed: `sealed-${id}` };
  await accept(subject, { id, key: `key-${id}`, contextId: `context-${id}`, text: `text-${id}`, owner, credential });
  const [claimed] = await claim(subject, `worker-${id}`, 1);
  assert(claimed);
  await store.beginStep(claimed.fence, `step-${id}`);
  await store.endStep(claimed.fence, `step-${id}`, `result-${id}`);
  await write(subject, claimed.fence, { text: `part-${id}`, artifactId: `artifact-${id}` });
  await say(subject, id, `follow-up-${id}`);
}

test('an uninstallation: nothing of the tenant is left in the whole database but its own row', async (t) => {
  const subject = await openSqliteSubject(t);
  const { tenants } = subject;
  await tenants.put(ALICE.tenant, { site: 's' });
  await fill(subject, 'live-one');
  await fill(subject, 'ended-one');
  await end(subject, 'ended-one');
  const elsewhere = { ...BOB, tenant: 'rovo:elsewhere' };
  await fill(subject, 'other', elsewhere);
  const before = tablesWith(subject, 'live-one', 'ended-one', ALICE.tenant, ALICE.principal);
  assert(before.length >= 10, before.join());
  await tenants.remove(ALICE.tenant);
  await tenants.erase(ALICE.tenant, 1_000);
  assert.deepEqual(tablesWith(subject, ALICE.tenant), ['tenant']);
  assert.deepEqual(tablesWith(subject, 'live-one', 'ended-one', ALICE.principal), []);
  assert.deepEqual(tablesWith(subject, 'other').length > 8, true, 'another tenant keeps its own');
});

test('an uninstallation: no byte of what its people wrote is left in the file when the service has stopped', async (t) => {
  const subject = await openSqliteSubject(t);
  const ids = Array.from({ length: 20 }, (_, n) => `planted-${n}`);
  for (const id of ids) await fill(subject, id);
  const elsewhere = { ...BOB, tenant: 'rovo:elsewhere' };
  await fill(subject, 'other', elsewhere);
  await subject.tenants.remove(ALICE.tenant);
  await subject.tenants.erase(ALICE.tenant, 1_000);
  await subject.store.close();
  const file = readFileSync(subject.path);
  assert.ok(file.includes('text-other'), 'texts stand in the file as they are');
  assert.equal(file.includes('planted-'), false);
  assert.equal(file.includes(ALICE.principal), false);
});

test('retention: finished tasks leave no row behind in any table', async (t) => {
  const subject = await openSqliteSubject(t);
  for (const id of ['one', 'two', 'three']) {
    await fill(subject, id);
    await end(subject, id);
  }
  assert(Object.keys(counts(subject)).length >= 10, JSON.stringify(counts(subject)));
  subject.advance(1_000);
  assert.equal(await subject.store.purge(1_000, 100), 3);
  assert.deepEqual(counts(subject), {});
});

test('retention: tasks of many events go in commits of their own, small ones together', async (t) => {
  const subject = await openSqliteSubject(t);
  const ids = Array.from({ length: 3 }, (_, n) => `large-${n}`);
  for (const id of ids) await accept(subject, { id });
  const claimed = await claim(subject);
  for (const { fence } of claimed) {
    await Promise.all(Array.from({ length: 2_000 }, () => write(subject, fence, { text: 'x', joined: true })));
  }
  for (const id of ids) await end(subject, id);
  subject.advance(1);
  for (let n = 0; n < 20; n += 1) {
    await accept(subject, { id: `small-${n}` });
    await end(subject, `small-${n}`);
  }
  subject.advance(1_000);
  const before = subject.sqlite.stats().commits;
  assert.equal(await withTime(subject, subject.store.purge(1, 1_000)), 23);
  // Three large ones, the small ones, and a look that finds nothing.
  assert.equal(subject.sqlite.stats().commits - before, 5);
});
