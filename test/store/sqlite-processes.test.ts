import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { holdLock } from '../support/hold-lock.ts';
import { tempDir } from '../support/temp-dir.ts';
import { verifyFile } from '../verify/verify-file.ts';
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

const ROUND = 20;

function acceptsOf(child: number, round: number) {
  return Array.from({ length: ROUND }, (_, n) => ({ id: `t-${child}-${round}-${n}`, key: `${child}-${round}-${n}` }));
}

test('two processes in a storm of locks: what was created is stored, what was refused is not and is created later, all of it once', async (t) => {
  const subject = await openSqliteSubject(t);
  const children = await Promise.all([startChild(t, subject.path), startChild(t, subject.path)]);
  let storm = true;
  const blowing = (async () => {
    for (let gusts = 0; storm || gusts < 5; gusts += 1) await (await holdLock(t, subject.path)).mend();
  })();
  await Promise.all(
    children.map(async (child, c) => {
      for (let round = 0; round < 10; round += 1) {
        const kinds = (await child.send({ accepts: acceptsOf(c, round) })).map(({ kind }) => kind);
        assert.deepEqual(new Set(kinds), new Set(['create']), 'none of these locks lasts');
      }
    }),
  );
  storm = false;
  await blowing;

  const lock = await holdLock(t, subject.path);
  const sendAll = () => Promise.all(children.map((child, c) => child.send({ accepts: acceptsOf(c, 10) })));
  const kindsOf = async () => new Set((await sendAll()).flat().map(({ kind }) => kind));
  assert.deepEqual(await kindsOf(), new Set(['STORE_UNAVAILABLE']));
  await lock.mend();
  assert.equal((await subject.store.backlog()).waiting, 2 * 10 * ROUND, 'nothing that was refused is there');
  assert.deepEqual(await kindsOf(), new Set(['create']));
  assert.deepEqual(await kindsOf(), new Set(['repeat']));
  assert.equal((await subject.store.backlog()).waiting, 2 * 11 * ROUND);
  await Promise.all(children.map((child) => child.end()));
  const { findings } = await verifyFile(subject.path, Date.now());
  // The tasks of these tests have no deadline.
  assert.deepEqual(new Set(findings.map(({ rule }) => rule)), new Set(['deadline']));
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
