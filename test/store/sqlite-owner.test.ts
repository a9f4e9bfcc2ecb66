import assert from 'node:assert/strict';
import { test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { ALICE, accept, BOB, peekAccept, rejectsWith } from './scenario.ts';
import { openSqliteSubject } from './sqlite-subject.ts';

test('a task of somebody else is not read: what is in it neither takes time nor does harm', async (t) => {
  const subject = await openSqliteSubject(t);
  await accept(subject, { id: 't1' });
  const db = new BetterSqlite3(subject.path);
  t.after(() => db.close());
  db.exec("update task set status = 'no JSON'");
  assert.equal((await peekAccept(subject, { owner: BOB, taskId: 't1' })).task, undefined);
  await rejectsWith(
    subject.store.update({ taskId: 't1', owner: BOB }, () => undefined),
    'TASK_NOT_FOUND',
  );
  await assert.rejects(
    subject.store.update({ taskId: 't1', owner: ALICE }, () => undefined),
    /./,
  );
});
