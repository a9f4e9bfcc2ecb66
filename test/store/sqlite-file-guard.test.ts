import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import BetterSqlite3 from 'better-sqlite3';
import { guardFiles } from '../../adapters/sqlite/file-guard.ts';
import { tempDir } from '../support/temp-dir.ts';
import { accept } from './scenario.ts';
import { openSqliteSubject } from './sqlite-subject.ts';

const LIMIT = 64 * 1024 * 1024;
const ROW = 'x'.repeat(3_000);

/** Lets something happen in the middle of a look at the files: before the call of this number from now on. */
function interleave(t: TestContext) {
  let left = -1;
  let act = () => {};
  function looked(): void {
    left -= 1;
    if (left === -1) act();
  }
  const { statSync: stat, fstatSync: fstat, readSync: read } = fs;
  t.mock.method(fs, 'statSync', (...args: Parameters<typeof stat>) => {
    looked();
    return stat(...args);
  });
  t.mock.method(fs, 'fstatSync', (...args: Parameters<typeof fstat>) => {
    looked();
    return fstat(...args);
  });
  t.mock.method(fs, 'readSync', (...args: Parameters<typeof read>) => {
    looked();
    return read(...args);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return {
    at(call: number, what: () => void) {
      left = call;
      act = what;
    },
    /** Whether it has happened; it will not any more. */
    stop() {
      const happened = left < 0;
      left = -1;
      return happened;
    },
  };
}

function connect(t: TestContext, path: string): BetterSqlite3.Database {
  const db = new BetterSqlite3(path, { timeout: 0 });
  t.after(() => db.close());
  db.pragma('journal_mode = wal');
  return db;
}

/** A database that is written with its files guarded, and what another program does to it. */
function stage(t: TestContext, { linked = false } = {}) {
  const path = join(tempDir(t), 'store.db');
  const db = connect(t, path);
  db.pragma(`journal_size_limit = ${LIMIT}`);
  db.exec('create table row (text text)');
  const insert = (into: BetterSqlite3.Database, count = 1) => {
    for (let n = 0; n < count; n += 1) into.prepare('insert into row values (?)').run(ROW);
  };
  const other = connect(t, path);
  other.pragma('journal_size_limit = 0');
  other.pragma('cache_size = 1');
  const link = linked ? join(tempDir(t), 'link.db') : undefined;
  if (link !== undefined) symlinkSync(path, link);
  const guard = guardFiles(link ?? path, LIMIT);
  t.after(guard.close);
  return {
    path,
    link,
    log: `${path}-wal`,
    guard,
    other,
    write: () => insert(db),
    /** Another program’s. */
    insert: (count: number) => insert(other, count),
    truncate: () => assert.equal(other.pragma('wal_checkpoint(TRUNCATE)', { simple: true }), 0),
    restart: () => assert.equal(other.pragma('wal_checkpoint(RESTART)', { simple: true }), 0),
    commit(count: number): readonly unknown[] {
      const found: unknown[] = [];
      for (let n = 0; n < count; n += 1) {
        found.push(guard.before());
        insert(db);
        found.push(guard.after());
      }
      return found.filter((fault) => fault !== undefined);
    },
  };
}

type Stage = ReturnType<typeof stage>;

const LEGITIMATE: Readonly<Record<string, (stage: Stage) => void>> = {
  'empties the log': ({ truncate }) => truncate(),
  'empties the log and writes': ({ truncate, insert }) => {
    truncate();
    insert(1);
  },
  'empties the log and writes more than there was': ({ truncate, insert }) => {
    truncate();
    insert(30);
  },
  'begins the log anew and cuts it to what it writes': ({ restart, insert }) => {
    restart();
    insert(1);
  },
  'begins the log anew and again': ({ restart, insert }) => {
    for (let n = 0; n < 2; n += 1) {
      restart();
      insert(2);
    }
  },
};

for (const [what, act] of Object.entries(LEGITIMATE)) {
  test(`files: another program ${what} between any two looks: nothing is wrong`, (t) => {
    const calls = interleave(t);
    let call = 0;
    for (let happened = true; happened; call += 1) {
      const on = stage(t);
      assert.deepEqual(on.commit(12), []);
      calls.at(call, () => act(on));
      assert.deepEqual(on.commit(3), [], `before look ${call}`);
      happened = calls.stop();
    }
    assert(call > 15, `${call} looks`);
  });
}

for (const end of ['commit', 'rollback']) {
  test(`files: another program begins the log anew between any two looks and ends it by ${end} later: nothing is wrong`, (t) => {
    const calls = interleave(t);
    let call = 0;
    for (let happened = true; happened; call += 1) {
      const on = stage(t);
      assert.deepEqual(on.commit(12), []);
      on.write();
      calls.at(call, () => {
        on.restart();
        on.other.exec('begin immediate');
        // More than its cache: the header is in the log before the commit.
        on.insert(5);
      });
      const faults = [on.guard.after()];
      happened = calls.stop();
      if (happened) on.other.exec(end);
      assert.deepEqual([...faults, ...on.commit(3)], [undefined], `before look ${call}`);
    }
    assert(call > 3, `${call} looks`);
  });
}

const half = (bytes: number) => Math.floor(bytes / 2);

test('files: a log that is cut is found before the next commit, also when it has just been begun', (t) => {
  for (const cut of [half, (bytes: number) => bytes - 1_000, () => 40, () => 20, () => 1]) {
    for (const commits of [1, 2, 12]) {
      const on = stage(t);
      on.truncate();
      assert.deepEqual(on.commit(commits), []);
      truncateSync(on.log, cut(statSync(on.log).size));
      assert.equal(on.guard.before(), 'damaged', `${cut} after ${commits}`);
    }
  }
});

test('files: a log that is emptied is found with the next commit, one that is overwritten too', (t) => {
  const on = stage(t);
  assert.deepEqual(on.commit(12), []);
  truncateSync(on.log, 0);
  on.write();
  assert.equal(on.guard.after(), 'damaged');
  const another = stage(t);
  assert.deepEqual(another.commit(12), []);
  writeFileSync(another.log, Buffer.alloc(statSync(another.log).size));
  another.write();
  assert.equal(another.guard.after(), 'damaged');
});

for (const linked of [false, true]) {
  test(`files: each one that is moved away${linked ? ' from behind a link' : ''} is missed, before a commit and after it`, (t) => {
    for (const end of ['', '-wal', '-shm']) {
      const on = stage(t, { linked });
      assert.deepEqual(on.commit(2), []);
      renameSync(on.path + end, `${on.path}.away`);
      assert.equal(on.guard.before(), 'moved');
      on.write();
      assert.equal(on.guard.after(), 'moved');
      renameSync(`${on.path}.away`, on.path + end);
      assert.deepEqual(on.commit(2), []);
    }
  });
}

test('files: a folder that is moved away is missed, and so is a link that leads elsewhere', (t) => {
  const on = stage(t);
  assert.deepEqual(on.commit(2), []);
  renameSync(dirname(on.path), `${dirname(on.path)}-away`);
  assert.equal(on.guard.before(), 'moved');
  mkdirSync(dirname(on.path));
  assert.equal(on.guard.before(), 'moved');
  rmdirSync(dirname(on.path));
  renameSync(`${dirname(on.path)}-away`, dirname(on.path));
  assert.deepEqual(on.commit(2), []);

  const linked = stage(t, { linked: true });
  assert.deepEqual(linked.commit(2), []);
  assert(linked.link);
  rmSync(linked.link);
  assert.equal(linked.guard.before(), 'moved');
  symlinkSync(on.path, linked.link);
  assert.equal(linked.guard.before(), 'moved');
});

test('SqliteStore: another process empties the log again and again: every write is answered', async (t) => {
  const subject = await openSqliteSubject(t);
  const program = fileURLToPath(new URL('./truncating-child.js', import.meta.url));
  const child = spawn(process.execPath, [program, subject.path], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  let emptied = 0;
  createInterface({ input: child.stdout }).on('line', () => {
    emptied += 1;
  });
  let written = 0;
  for (; emptied < 10; written += 1) {
    let answered = false;
    const writing = accept(subject, { id: `t${written}` }).finally(() => {
      answered = true;
    });
    // One that finds the file locked waits by the clock.
    while (!answered) {
      await new Promise((resolve) => setImmediate(resolve));
      subject.advance(10);
    }
    await writing;
  }
  child.stdin.end();
  assert.deepEqual(await exited, [0, null]);
  assert.equal((await subject.store.backlog()).waiting, written);
});
