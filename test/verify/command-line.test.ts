import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import BetterSqlite3 from 'better-sqlite3';
import { createClient } from '../support/client.ts';
import { createCore } from '../support/service.ts';
import { tempDir } from '../support/temp-dir.ts';

const PROGRAM = fileURLToPath(new URL('../../src/verify.js', import.meta.url));

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function run(...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...args]);
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => (out += data));
    child.stderr.on('data', (data) => (err += data));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

async function finishedTask(t: Parameters<typeof createCore>[0]): Promise<{ path: string; taskId: string }> {
  const core = await createCore(t, {
    agent: async function* () {
      yield { artifact: { artifactId: 'a', parts: [{ text: 'private words' }] } };
      yield { state: 'TASK_STATE_COMPLETED', message: 'private words' };
    },
  });
  const { id } = await createClient(core).send('private words');
  return { path: core.path, taskId: id };
}

describe('npm run verify', () => {
  it('a clean database that is in use: exit 0, counts, and the file is as it was', async (t) => {
    const { path } = await finishedTask(t);
    const before = readFileSync(path);
    const { code, out, err } = await run(`sqlite:${path}`);
    assert.equal(code, 0, out + err);
    assert.equal(out, '');
    assert.match(err, /^clean: 1 tasks, 1 messages, 1 executions, \d+ events\n$/);
    assert.deepEqual(await run(path), { code, out, err });
    assert.ok(before.equals(readFileSync(path)));
  });

  it('findings: exit 1, one line each with rule, task and detail, and what the rules mean', async (t) => {
    const { path, taskId } = await finishedTask(t);
    const db = new BetterSqlite3(path);
    db.exec('delete from event where sequence = 2; update task set messages = 7');
    db.close();
    const { code, out, err } = await run(path);
    assert.equal(code, 1);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    assert.ok(
      lines.every((line) => line.length === 3 && line[1] === taskId),
      out,
    );
    assert.ok(
      lines.some(([rule, , detail]) => rule === 'history' && detail === 'the last message is 1, the task says 7'),
      out,
    );
    assert.match(err, /^\d findings: 1 tasks/);
    assert.match(err, /sequence: Events are numbered/);
    assert.doesNotMatch(out + err, /private/);
  });

  it('an id that would steer the terminal is printed without its control characters', async (t) => {
    const { path } = await finishedTask(t);
    const db = new BetterSqlite3(path);
    db.exec("update task set id = char(27) || '[2Jtask', messages = 7");
    db.close();
    const { code, out } = await run(path);
    assert.equal(code, 1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    assert.doesNotMatch(out, /\u001b/);
    assert.match(out, /\tthe last message|\t\uFFFD\[2Jtask\t/);
  });

  it('pages that are damaged are findings as far as the file can be read', async (t) => {
    const { path, taskId } = await finishedTask(t);
    const copy = join(tempDir(t), 'damaged.db');
    const db = new BetterSqlite3(path);
    db.prepare('vacuum into ?').run(copy);
    db.close();
    // Of the copy: a vacuum may give every table another page.
    const copied = new BetterSqlite3(copy);
    const root =
      copied.prepare<[], { rootpage: number }>("select rootpage from sqlite_schema where name = 'event'").get()
        ?.rootpage ?? 0;
    const size = Number(copied.pragma('page_size', { simple: true }));
    copied.close();
    const bytes = readFileSync(copy);
    bytes.fill(0xff, (root - 1) * size, root * size);
    writeFileSync(copy, bytes);
    const { code, out } = await run(copy);
    assert.equal(code, 1, out);
    assert.match(out, /^integrity\t/m);
    assert.ok(!out.includes('private'), taskId);
  });

  it('what cannot be opened: exit 2 and the reason', async (t) => {
    const folder = tempDir(t);
    const text = join(folder, 'text.db');
    writeFileSync(text, 'this is no database, it is a text that is long enough to be one. '.repeat(20));
    const other = join(folder, 'other.db');
    new BetterSqlite3(other).exec('create table task (id)').close();
    const empty = join(folder, 'empty.db');
    writeFileSync(empty, '');
    for (const [path, reason] of [
      [join(folder, 'missing.db'), /missing\.db/],
      [folder, /not a file/],
      [text, /damaged or no SQLite database/],
      [other, /no database of this service/],
      [empty, /no database of this service/],
    ] as const) {
      const { code, out, err } = await run(path);
      assert.equal(code, 2, path);
      assert.equal(out, '');
      assert.match(err, reason);
      assert.doesNotMatch(err, /\n\s+at /, 'no stack');
    }
  });

  it('a schema of another program: exit 2', async (t) => {
    const { path } = await finishedTask(t);
    const db = new BetterSqlite3(path);
    t.after(() => db.close());
    db.exec("insert into migration values (9999, 'future', 1, 0)");
    assert.match((await run(path)).err, /a newer program made this database/);
    db.exec('delete from migration where version = 9999');
    db.exec('delete from migration where version = (select max(version) from migration)');
    const older = await run(path);
    assert.equal(older.code, 2);
    assert.match(older.err, /of an older program/);
  });

  it('wrong arguments: exit 2, what is wrong and how it is used', async () => {
    for (const [args, wrong] of [
      [[], 'which database?'],
      [['a', 'b'], 'one database at a time'],
      [['--what'], 'there is no option --what'],
      [['a', '--stale-minutes'], '--stale-minutes is a number of minutes'],
      [['a', '--stale-minutes', 'x'], '--stale-minutes is a number of minutes'],
    ] as const) {
      const { code, err } = await run(...args);
      assert.equal(code, 2);
      assert.ok(err.startsWith(`${wrong}\n\nusage: npm run verify`), err);
    }
  });

  it('--help: exit 0 and how it is used, whatever else is said', async () => {
    for (const args of [['--help'], ['-h'], ['a', '--bogus', '--help']]) {
      const { code, out, err } = await run(...args);
      assert.deepEqual([code, err], [0, '']);
      assert.match(out, /^usage: npm run verify/);
    }
  });
});
