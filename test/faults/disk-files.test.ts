import assert from 'node:assert/strict';
import { renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { after, before, describe, type TestContext, test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import type { StoreFault } from '../../core/errors.ts';
import { artifactText, type Task } from '../../simulator/client/a2a.ts';
import { chunksOf } from '../e2e/agents/texts.ts';
import { script } from '../e2e/world.ts';
import { holdLock } from '../support/hold-lock.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { expectGreen, expectRed, expectRefused } from './outage.ts';
import { createPersistentClient, startPlainClients } from './persistent-client.ts';
import { createStage, type Stage } from './stage.ts';

/*
 * Somebody deletes, moves, replaces or cuts off the files of a service that runs on them. SQLite itself would go on, and
 * lose everything with its process.
 */

let clients: Awaited<ReturnType<typeof startPlainClients>>;
before(async () => {
  clients = await startPlainClients();
});
after(() => clients.close());

/** A turn whose commits are refused does not end by itself. */
const SETTINGS = { OPS_TOKEN: 'operator', DRAIN_MS: '2000' };
const LATE = script(['complete Late.']);

async function finish(service: ServiceProcess, said: string): Promise<Task> {
  const { task, text } = await clients.at(service).rpc('SendMessage', script([`complete ${said}`]));
  assert.equal(task?.status.state, 'TASK_STATE_COMPLETED', text);
  return task;
}

/** A task whose agent goes on when the stage is watched. */
async function run(service: ServiceProcess, stage: Stage) {
  const lines = ['say Started.', 'watched', 'chunks 3', 'complete Done.'];
  const runner = createPersistentClient({ at: clients.at, lines });
  const streaming = runner.begin(service);
  await until('its agent runs', () => stage.states().at(-1) === 'WORKING');
  const taskId = String(stage.query<{ id: string }>('select id from task order by pk desc').at(0)?.id);
  return { runner, streaming, taskId };
}

/** Between two commits of the service. What happens in the middle of one is seen or not, as it comes. */
async function between(t: TestContext, stage: Stage, act: () => void): Promise<void> {
  const lock = await holdLock(t, stage.path);
  act();
  await lock.mend();
}

async function expectClosed(service: ServiceProcess, stage: Stage, { task, fault }: { task: Task; fault: StoreFault }) {
  const client = clients.at(service);
  await expectRefused(client, LATE);
  await expectRed(service, fault);
  const { error, text } = await client.get(task.id);
  assert.match(text, /STORE_UNAVAILABLE/, 'what may not be found again is not shown');
  assert.equal(error?.code, -32603);
  stage.watched();
  await expectRefused(client, LATE);
}

async function stopped(service: ServiceProcess): Promise<void> {
  service.signal('SIGTERM');
  assert.equal(await service.exited(), 0, service.output());
  const said = service.log().filter(({ event }) => event === 'store.unavailable');
  assert.equal(said.length, 1, service.output());
}

/** What was answered before is there, what was refused runs once when it is sent again. */
async function expectWhole(service: ServiceProcess, stage: Stage, task: Task): Promise<void> {
  const client = clients.at(service);
  const read = await client.get(task.id);
  assert.deepEqual(read.task, task, service.output());
  const late = await client.rpc('SendMessage', LATE);
  assert.equal(late.task?.status.state, 'TASK_STATE_COMPLETED', late.text);
  assert.equal(stage.counted(late.task?.id).runs, 1);
}

describe('files of a database that are touched while a service runs on them', { concurrency: 3 }, () => {
  test('disk: the database is moved away: nothing is answered; put back, all goes on without a restart', async (t) => {
    const stage = createStage(t, 'rerun', { LEASE_MS: '30000' });
    const service = await stage.start(SETTINGS);
    const task = await finish(service, 'Done.');
    const { runner, streaming, taskId } = await run(service, stage);
    await between(t, stage, () => renameSync(stage.path, `${stage.path}.away`));
    await expectClosed(service, stage, { task, fault: 'moved' });
    renameSync(`${stage.path}.away`, stage.path);
    await expectGreen(service);
    await streaming;
    await runner.goOn(service);
    const { task: ended } = await clients.at(service).get(taskId);
    assert.equal(ended?.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(artifactText(ended), chunksOf(3, 20));
    assert.equal(stage.counted(taskId).runs, 1, 'its turn was not even interrupted');
    await expectWhole(service, stage, task);
    await stopped(service);
    await stage.expectClean({ stopped: true });
  });

  for (const [what, files] of Object.entries({
    'the write-ahead log is': ['-wal'],
    'log and lock file are': ['-wal', '-shm'],
  })) {
    test(`disk: ${what} deleted: nothing is answered, and an orderly end puts what was answered into the database`, async (t) => {
      const stage = createStage(t, 'rerun');
      const service = await stage.start(SETTINGS);
      const task = await finish(service, 'Done.');
      const { runner, taskId } = await run(service, stage);
      await between(t, stage, () => {
        for (const file of files) rmSync(stage.path + file);
      });
      await expectClosed(service, stage, { task, fault: 'moved' });
      await stopped(service);
      const second = await stage.start(SETTINGS);
      await expectWhole(second, stage, task);
      await runner.goOn(second);
      const { task: ended } = await clients.at(second).get(taskId);
      assert.equal(artifactText(ended), chunksOf(3, 20));
      await stage.expectClean();
    });
  }

  test('disk: a backup is put in the place of the database: nothing is answered, and a restart works on the backup', async (t) => {
    const stage = createStage(t, 'rerun');
    const service = await stage.start(SETTINGS);
    const task = await finish(service, 'Done.');
    const backup = `${stage.path}.backup`;
    const db = new BetterSqlite3(stage.path);
    db.prepare('vacuum into ?').run(backup);
    db.close();
    const later = await finish(service, 'After it.');
    await between(t, stage, () => renameSync(backup, stage.path));
    await expectClosed(service, stage, { task, fault: 'moved' });
    await stopped(service);
    for (const file of ['-wal', '-shm']) rmSync(stage.path + file, { force: true });
    const second = await stage.start(SETTINGS);
    await expectWhole(second, stage, task);
    assert.equal((await clients.at(second).get(later.id)).error?.code, -32001, 'made after the backup');
    await stage.expectClean();
  });

  for (const [what, left] of Object.entries({ emptied: 0, 'cut in half': 0.5 })) {
    test(`disk: the write-ahead log is ${what}: nothing is answered, and the database keeps what it holds`, async (t) => {
      const stage = createStage(t, 'rerun');
      const first = await stage.start(SETTINGS);
      const task = await finish(first, 'Done.');
      // What is in the database file itself is out of reach of this damage.
      first.signal('SIGTERM');
      assert.equal(await first.exited(), 0);
      const service = await stage.start(SETTINGS);
      for (let count = 0; count < 5; count += 1) await finish(service, 'Only in the log.');
      const log = `${stage.path}-wal`;
      await between(t, stage, () => truncateSync(log, Math.floor(statSync(log).size * left)));
      await expectRefused(clients.at(service), LATE);
      await expectRed(service, 'damaged');
      await stopped(service);
      const second = await stage.start(SETTINGS);
      await expectWhole(second, stage, task);
      await stage.expectClean();
    });
  }
});
