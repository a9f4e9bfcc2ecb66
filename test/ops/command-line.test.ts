import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { createClient } from '../support/client.ts';
import { createCore } from '../support/service.ts';
import { tempDir } from '../support/temp-dir.ts';
import { runOps } from './run-ops.ts';

const JWT = `eyJ${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}`;

/** A database in use, with one task of private words. */
async function finished(t: TestContext): Promise<{ readonly path: string; readonly taskId: string }> {
  const core = await createCore(t, {
    agent: async function* () {
      yield {
        artifact: { artifactId: 'report', parts: [{ text: 'private result' }, { data: { secret: 'private' } }] },
      };
      yield { state: 'TASK_STATE_COMPLETED', message: `private answer ${JWT}`, metadata: { note: 'private note' } };
    },
  });
  const { id } = await createClient(core).send('private question\u001b[2J');
  return { path: core.path, taskId: id };
}

describe('npm run ops', () => {
  test('ops: without --texts nothing shows what people or the agent wrote; with it tokens are still taken out', async (t) => {
    const { path, taskId } = await finished(t);
    const run = (...args: readonly string[]) => runOps({ directory: tempDir(t) }, ...args, '--database', path);
    for (const args of [
      ['tasks', 'show', taskId],
      ['tasks', 'list'],
      ['executions', 'list', '--outcome', 'open'],
      ['tenants', 'list'],
      ['audit', 'list'],
      ['runner', 'show'],
    ]) {
      for (const form of [[], ['--json']]) {
        const { code, out, err } = await run(...args, ...form);
        assert.equal(code, 0, err);
        assert.doesNotMatch(out, /private|eyJ/, args.join(' '));
      }
    }
    const short = await run('tasks', 'show', taskId);
    assert.match(short.out, /user: text of 20 characters/);
    assert.match(short.out, /artifact report: text of 14 characters, data of 20 characters/);
    for (const form of [[], ['--json']]) {
      const { out } = await run('tasks', 'show', taskId, '--texts', ...form);
      for (const what of ['private question', 'private answer [token]', 'private result']) {
        assert.ok(out.includes(what), `${what} in ${out}`);
      }
      assert.doesNotMatch(out, /eyJ/);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not reach a terminal
      assert.doesNotMatch(out, /\u001b/);
    }
  });

  test('ops: the database comes from --database, the environment or .env, and needs no other setting', async (t) => {
    const { path } = await finished(t);
    const directory = tempDir(t);
    const list = (env: Record<string, string>, ...args: readonly string[]) =>
      runOps({ directory, env }, 'tenants', 'list', ...args);
    for (const ran of [
      await list({}, '--database', path),
      await list({ DATABASE_URL: 'sqlite:./nowhere.db' }, '--database', `sqlite:${path}`),
      await list({ DATABASE_URL: `sqlite:${path}` }),
    ]) {
      assert.equal(ran.code, 0, ran.err);
      assert.match(ran.out, /^test +active +0 +1$/m);
    }
    writeFileSync(join(directory, '.env'), `DATABASE_URL=sqlite:${path}\n`);
    assert.match((await list({})).out, /^test +active/m);
    const wrong = await list({ DATABASE_URL: 'mysql://root:hunter2@host/db' });
    assert.equal(wrong.code, 78);
    assert.match(wrong.err, /DATABASE_URL/);
    assert.doesNotMatch(wrong.err, /hunter2/);
  });

  test('ops: a database that is not there is not made: exit 78, which and how it is named', async (t) => {
    const directory = tempDir(t);
    const missing = join(directory, 'typo.db');
    const { code, out, err } = await runOps({ directory }, 'runner', 'pause', '--database', missing);
    assert.deepEqual([code, out], [78, '']);
    assert.match(err, /^there is no database .*typo\.db; name it with --database <file> or in DATABASE_URL\n$/);
    assert.doesNotMatch(err, /\n\s+at /, 'no stack');
    assert.equal(existsSync(missing), false);
  });

  test('ops: an id that nobody knows: exit 1 and which', async (t) => {
    const { path, taskId } = await finished(t);
    for (const [args, text] of [
      [['tasks', 'show', 'nope\u001b[2J'], /^there is no task nope\uFFFD\[2J\n$/],
      [['tasks', 'cancel', 'nope'], /^there is no task nope\n$/],
      [['executions', 'retry', 'nope'], /^there is no task nope\n$/],
      [['executions', 'retry', taskId], /^the task has no dead turn \(turn 1 is done\)\n$/],
      [['executions', 'close', taskId, '7'], /^the task has no turn 7 \(turn 1 is done\)\n$/],
      [['tenants', 'pause', 'nope'], /^there is no tenant nope\n$/],
      [['tenants', 'resume', 'nope'], /^there is no tenant nope\n$/],
      [['tenants', 'erase', 'nope'], /^there is no tenant nope\n$/],
      [['tenants', 'restore', 'nope'], /^there is no tenant nope\n$/],
      [['erase', '--principal', 'nope'], /^nothing is stored of principal nope\n$/],
    ] as const) {
      const ran = await runOps({ directory: tempDir(t) }, ...args, '--database', path);
      assert.deepEqual([ran.code, ran.out], [1, ''], args.join(' '));
      assert.match(ran.err, text);
    }
    const db = new BetterSqlite3(path);
    t.after(() => db.close());
    assert.equal(db.prepare('select count(*) from audit').pluck().get(), 0, 'what was refused was not done');
  });

  test('ops: a wrong command line: exit 64, what is wrong and where to look; no database is opened', async (t) => {
    for (const [args, text] of [
      [[], /what is to be done/],
      [['frob'], /there is no frob: say executions, tasks, tenants, erase, runner, audit/],
      [['tasks'], /tasks: say list, show, cancel/],
      [['tasks', 'frob'], /tasks has no frob/],
      [['task', 'show', 'x'], /there is no task: did you mean tasks show\?/],
      [['audti'], /there is no audti: did you mean audit\?/],
      [['tasks', 'shwo'], /tasks has no shwo: did you mean show\?/],
      [['constructor'], /there is no constructor/],
      [['tasks', 'show'], /tasks show needs <task>/],
      [['tasks', 'show', ' '], /blank/],
      [['runner', 'pause', 'x'], /runner pause takes no x/],
      [['executions', 'retry', 't', 'x'], /<turn> is a whole number/],
      [['executions', 'list', '--outcome', 'done'], /--outcome is one of dead, open/],
      [['tasks', 'list', '--state', 'busy'], /--state is one of submitted, working, input-required/],
      [['tasks', 'list', '--limit', '0'], /--limit is a whole number from 1/],
      [['tasks', 'list', '--again'], /takes no --again/],
      [['tasks', 'list', '--reason', 'x'], /takes no --reason/],
      [['tasks', 'show', 't', '--frob'], /--frob/],
      [['erase'], /--principal <id>/],
      [['erase', '--principal', ''], /--principal is blank/],
      [['runner', 'pause', '--as', 'x'.repeat(201)], /--as is longer/],
      [['tenants', 'list', '--database', 'postgres://u:hunter2@h/d'], /--database is a path/],
    ] as const) {
      const { code, out, err } = await runOps({ directory: tempDir(t) }, ...args);
      assert.deepEqual([code, out], [64, ''], args.join(' '));
      assert.match(err, text);
      assert.match(err, /npm run ops -- --help\n$/);
      assert.doesNotMatch(err, /hunter2/);
    }
    const help = await runOps({ directory: tempDir(t) }, '--help');
    assert.equal(help.code, 0);
    assert.match(help.out, /^usage: npm run ops/);
  });

  test('ops: a list that is longer than its limit says so, on standard error', async (t) => {
    const { path } = await finished(t);
    const ops = (...args: readonly string[]) => runOps({ directory: tempDir(t) }, ...args, '--database', path);
    await ops('runner', 'pause');
    await ops('runner', 'resume');
    const { out, err } = await ops('audit', 'list', '--limit', '1');
    assert.match(out, /runner\.resume/);
    assert.doesNotMatch(out, /runner\.pause/);
    assert.match(err, /more than these 1/);
    const [only, ...others] = JSON.parse((await ops('audit', 'list', '--limit', '1', '--json')).out);
    assert.deepEqual([only.act, others], ['runner.resume', []]);
  });
});
