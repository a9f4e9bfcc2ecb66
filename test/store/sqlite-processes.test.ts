import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../support/temp-dir.ts';
import { startChild } from './child-process.ts';
import { ALICE, accept, message } from './scenario.ts';
import { openSqliteSubject } from './sqlite-subject.ts';

const WATCH_MS = 250;

test('two processes: 20 identical accepts at once make one task with one turn', async (t) => {
  const subject = await openSqliteSubject(t);
  const children = await Promise.all([startChild(t, subject.path), startChild(t, subject.path)]);
  const commands = children.map((_, child) =>
    Array.from({ length: 10 }, (__, n) => ({ id: `task-${child}-${n}`, key: 'm1', contextId: 'c1' })),
  );
  const answers = (
    await Promise.all(children.map((child, n) => child.send({ accepts: commands[n] ?? [], exclusive: true })))
  ).flat();
  assert.equal(answers.length, 20);
  assert.deepEqual(answers.map(({ kind }) => kind).sort(), ['create', ...Array(19).fill('repeat')]);
  assert.equal(new Set(answers.map(({ id }) => id)).size, 1);
  const page = await subject.store.list(ALICE, { filter: {}, limit: 10, artifacts: false });
  assert.equal(page.total, 1);
  assert.deepEqual(page.snapshots[0]?.task.history, [message('hi')]);
  assert.equal((await subject.store.backlog()).waiting, 1);
  await Promise.all(children.map((child) => child.end()));
});

test('two processes: many writes at once are all stored, none is refused', async (t) => {
  const subject = await openSqliteSubject(t);
  const children = await Promise.all([startChild(t, subject.path), startChild(t, subject.path)]);
  const rounds = await Promise.all(
    children.map(async (child, c) => {
      const kinds: string[] = [];
      for (let round = 0; round < 10; round += 1) {
        const accepts = Array.from({ length: 20 }, (_, n) => ({
          id: `t-${c}-${round}-${n}`,
          key: `${c}-${round}-${n}`,
        }));
        kinds.push(...(await child.send({ accepts })).map(({ kind }) => kind));
      }
      return kinds;
    }),
  );
  assert.deepEqual(new Set(rounds.flat()), new Set(['create']));
  assert.equal((await subject.store.backlog()).waiting, 400);
});

test('several processes: a database that does not exist yet is made by all of them at once', async (t) => {
  const path = join(tempDir(t), 'new', 'store.db');
  const children = await Promise.all([1, 2, 3].map(() => startChild(t, path)));
  for (const [n, child] of children.entries()) {
    assert.deepEqual(await child.send({ accepts: [{ id: `t${n}`, key: `m${n}` }] }), [{ kind: 'create', id: `t${n}` }]);
  }
});

test('wake-ups: a commit of another process wakes everybody within a quarter of a second, an own one nobody twice', async (t) => {
  const subject = await openSqliteSubject(t);
  const child = await startChild(t, subject.path);
  await accept(subject, { id: 'own' });
  subject.notified();
  subject.advance(WATCH_MS * 4);
  assert.deepEqual(subject.notified(), []);
  await child.send({ accepts: [{ id: 'theirs', key: 'm1' }] });
  assert.deepEqual(subject.notified(), []);
  subject.advance(WATCH_MS);
  assert.deepEqual(subject.notified(), ['*']);
  subject.advance(WATCH_MS * 4);
  assert.deepEqual(subject.notified(), []);
});
