import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSqliteStore } from '../../adapters/sqlite/open.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';
import { CAROL } from './operator-scenario.ts';
import { ALICE, accept, BOB, claim, LEASE_MS } from './scenario.ts';
import { openSqliteSubject, type SqliteSubject } from './sqlite-subject.ts';
import { createRecordingWakeups, type Subject } from './subject.ts';

const HOUR = 3_600_000;

/** The same file, opened by a process whose clock shows an hour less. */
async function anHourEarlier(t: Parameters<typeof openSqliteSubject>[0], { path, clock }: SqliteSubject) {
  const early = createManualClock(clock.now() - HOUR);
  const wakeups = createRecordingWakeups();
  const sqlite = await openSqliteStore({ path, clock: early, wakeups });
  t.after(() => sqlite.store.close());
  const subject: Subject = {
    ...{ store: sqlite.store, tenants: sqlite.tenants, operator: sqlite.operator },
    now: () => early.now(),
    advance: (ms) => early.advance(ms),
    notified: () => wakeups.notified(),
  };
  return { subject, early };
}

const ids = (claimed: Awaited<ReturnType<typeof claim>>) => claimed.map(({ fence }) => fence.taskId).sort();

test('a clock that was set back: what waits can be claimed, what is paused stays paused, and runners hear of it', async (t) => {
  const before = await openSqliteSubject(t);
  await accept(before, { id: 't1' });
  await accept(before, { id: 't2', owner: { ...BOB, tenant: 'rovo:site-two' } });
  await before.operator.pauseTenant(CAROL, 'rovo:site-two');
  const { subject, early } = await anHourEarlier(t, before);
  assert.deepEqual(await claim(subject), []);
  subject.notified();
  early.advance(10_000);
  await until('runners are told', () => subject.notified().includes('work'));
  assert.deepEqual(ids(await claim(subject)), ['t1']);
  await subject.operator.resumeTenant(CAROL, 'rovo:site-two');
  assert.deepEqual(ids(await claim(subject)), ['t2']);
});

test('a clock that was set back: a lease that nobody extends ends long before the clock has caught up', async (t) => {
  const before = await openSqliteSubject(t);
  await accept(before, { id: 't1' });
  await claim(before);
  const { subject, early } = await anHourEarlier(t, before);
  // Its own leases say how long one may be.
  await accept(subject, { id: 't2', owner: ALICE });
  assert.deepEqual(ids(await claim(subject)), ['t2']);
  subject.notified();
  early.advance(10_000);
  await until('runners are told', () => subject.notified().includes('work'));
  early.advance(12 * LEASE_MS + 1);
  assert.deepEqual(ids(await claim(subject)), ['t1', 't2']);
});

test('a clock that goes right: neither leases nor waiting turns are touched', async (t) => {
  const subject = await openSqliteSubject(t);
  await accept(subject, { id: 't1' });
  await claim(subject);
  await accept(subject, { id: 't2' });
  subject.notified();
  const { rowsWritten } = subject.sqlite.stats();
  subject.advance(10_000);
  await new Promise(setImmediate);
  assert.equal(subject.sqlite.stats().rowsWritten, rowsWritten);
});
