import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import BetterSqlite3 from 'better-sqlite3';
import { tempDir } from '../../support/temp-dir.ts';
import { told, verifyFile } from '../../verify/verify-file.ts';
import { RACES, TIMEOUT_MS } from './arena.ts';
import type { Told } from './sender.ts';

const SENDER = fileURLToPath(new URL('./sender.js', import.meta.url));
const BATCH = 25;

interface Sender {
  send(messageIds: readonly string[]): Promise<readonly Told[]>;
  end(): Promise<void>;
}

async function startSender(t: TestContext, path: string): Promise<Sender> {
  const child = spawn(process.execPath, ['--enable-source-maps', SENDER, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    assert.ok(!done, 'the process ended without an answer');
    return JSON.parse(value);
  };
  assert.equal(await next(), 'ready');
  return {
    async send(messageIds) {
      child.stdin.write(`${JSON.stringify(messageIds)}\n`);
      return (await next()) as readonly Told[];
    },
    async end() {
      child.stdin.end();
      assert.deepEqual(await exited, [0, null]);
    },
  };
}

test(`20 equal sends over two processes, ${RACES} times: one task, one run, twenty answers that name it`, {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const path = join(tempDir(t), 'connector.db');
  const senders = await Promise.all([startSender(t, path), startSender(t, path)]);
  for (let round = 0; round < RACES; round += BATCH) {
    const messageIds = Array.from({ length: Math.min(BATCH, RACES - round) }, () => randomUUID());
    const heard = (await Promise.all(senders.map((sender) => sender.send(messageIds)))).flat();
    for (const messageId of messageIds) {
      const both = heard.filter((each) => each.messageId === messageId);
      const answers = both.flatMap((each) => each.answers);
      assert.equal(answers.length, 20);
      assert.equal(new Set(answers).size, 1, `one task: ${[...new Set(answers)].join(', ')}`);
      // Half of the calls waited for the end, so it has run by now, in one of the two.
      assert.equal(
        both.reduce((runs, each) => runs + each.runs, 0),
        1,
        'one run',
      );
    }
  }
  await Promise.all(senders.map((sender) => sender.end()));
  const db = new BetterSqlite3(path, { readonly: true });
  const [row] = db
    .prepare(
      `select (select count(*) from task) as tasks, (select count(*) from request) as requests,
        (select count(*) from execution) as executions, (select sum(attempt) from execution) as attempts,
        (select count(*) from task where state = 'TASK_STATE_COMPLETED') as completed`,
    )
    .all();
  db.close();
  assert.deepEqual(row, { tasks: RACES, requests: RACES, executions: RACES, attempts: RACES, completed: RACES });
  assert.deepEqual(told(await verifyFile(path, Date.now(), Number.POSITIVE_INFINITY)), []);
});
