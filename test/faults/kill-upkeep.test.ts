import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { migrate } from '../../adapters/sqlite/migrate.ts';
import { MIGRATIONS } from '../../adapters/sqlite/migrations.ts';
import type { Task } from '../../simulator/client/a2a.ts';
import { script } from '../e2e/world.ts';
import { until } from '../support/until.ts';
import { MIGRATION, RETENTION } from './matrix.ts';
import { startPlainClients } from './persistent-client.ts';
import { createStage, type Stage } from './stage.ts';

let clients: Awaited<ReturnType<typeof startPlainClients>>;
before(async () => {
  clients = await startPlainClients();
});
after(() => clients.close());

/** Some finished tasks and a parked one, written by the real service, which is stopped then. */
async function fill(stage: Stage, finished: number): Promise<readonly Task[]> {
  const service = await stage.start();
  const client = clients.at(service);
  const scripts = [...Array.from({ length: finished }, () => ['complete Done.']), ['ask Which one?']];
  const answers = await Promise.all(scripts.map((lines) => client.rpc('SendMessage', script(lines))));
  service.signal('SIGTERM');
  assert.equal(await service.exited(), 0);
  return answers.map(({ task, text }) => {
    assert.ok(task, text);
    return task;
  });
}

async function expectFound(stage: Stage, tasks: readonly Task[]): Promise<void> {
  const client = clients.at(await stage.start());
  for (const task of tasks) assert.deepEqual((await client.get(task.id)).task, task);
  const asked = tasks.at(-1);
  const answered = await client.rpc('SendMessage', script(['complete Thanks.'], { taskId: String(asked?.id) }));
  assert.equal(answered.task?.status.state, 'TASK_STATE_COMPLETED', 'and it goes on');
  await stage.expectClean();
}

function versions(stage: Stage): readonly number[] {
  const tables = stage.query<{ name: string }>("select name from sqlite_schema where name = 'migration'");
  return tables.length === 0
    ? []
    : stage.query<{ version: number }>('select version from migration').map(({ version }) => version);
}

/** A schema that is not finished is none that the verifier knows. */
async function diedAtStart(stage: Stage, point: string): Promise<void> {
  const service = stage.launchToDie(point);
  assert.equal(await service.exited(), 'SIGKILL', service.output());
  assert.deepEqual(
    service
      .log()
      .map(({ event }) => event)
      .at(-1),
    'fault.reached',
  );
  assert.deepEqual(stage.query('pragma integrity_check'), [{ integrity_check: 'ok' }]);
}

const LATEST = MIGRATIONS.map(({ version }) => version);

const MIGRATION_SCENARIOS: Readonly<Record<keyof typeof MIGRATION, (stage: Stage, point: string) => Promise<void>>> = {
  async 'in the middle of the first migration'(stage, point) {
    await diedAtStart(stage, point);
    assert.deepEqual(versions(stage), []);
    assert.deepEqual(stage.query("select name from sqlite_schema where name = 'tenant'"), []);
    const service = await stage.start();
    assert.deepEqual(versions(stage), LATEST);
    const { task } = await clients.at(service).rpc('SendMessage', script(['complete Done.']));
    assert.equal(task?.status.state, 'TASK_STATE_COMPLETED');
    await stage.expectClean();
  },
  async 'in the middle of a later migration'(stage, point) {
    const tasks = await fill(stage, 2);
    const db = new BetterSqlite3(stage.path);
    migrate(db, { target: 1, now: 0 });
    const schema = db.prepare('select name, sql from sqlite_schema order by name').all();
    db.close();
    await diedAtStart(stage, point);
    assert.deepEqual(versions(stage), [1]);
    assert.deepEqual(stage.query('select name, sql from sqlite_schema order by name'), schema);
    assert.equal(stage.states().length, tasks.length);
    await expectFound(stage, tasks);
    assert.deepEqual(versions(stage), LATEST);
  },
  async 'between two migrations'(stage, point) {
    await diedAtStart(stage, point);
    assert.deepEqual(versions(stage), [1]);
    const service = await stage.start();
    assert.deepEqual(versions(stage), LATEST);
    const { task } = await clients.at(service).rpc('SendMessage', script(['complete Done.']));
    assert.equal(task?.status.state, 'TASK_STATE_COMPLETED');
    await stage.expectClean();
  },
};

describe('a process that is killed in a migration', { concurrency: 3 }, () => {
  for (const [point, scenario] of Object.entries(MIGRATION_SCENARIOS)) {
    const { afterwards } = MIGRATION[point as keyof typeof MIGRATION];
    test(`killed ${point}: ${afterwards}`, (t) => scenario(createStage(t, 'review'), point));
  }
});

/** More than two batches of twenty. */
const FINISHED = 45;
const BATCH = 20;
const AT_ONCE = { RETENTION_MS: '1' };

describe('a process that is killed in a purge', { concurrency: 2 }, () => {
  const left: Readonly<Record<keyof typeof RETENTION, number>> = {
    'before the commit of a purge batch': FINISHED,
    'after the commit of a purge batch': FINISHED - BATCH,
  };
  for (const [point, finished] of Object.entries(left)) {
    test(`killed ${point}: ${RETENTION[point as keyof typeof RETENTION].afterwards}`, async (t) => {
      const stage = createStage(t, 'review');
      const tasks = await fill(stage, FINISHED);
      await stage.died(stage.launchToDie(point, AT_ONCE));
      assert.equal(stage.states().filter((state) => state === 'COMPLETED').length, finished);

      const service = await stage.start(AT_ONCE);
      await until('all is purged', () => stage.states().length === 1);
      const client = clients.at(service);
      for (const { id } of tasks.slice(0, -1)) assert.equal((await client.get(id)).error?.code, -32001);
      assert.deepEqual((await client.get(String(tasks.at(-1)?.id))).task, tasks.at(-1), 'the live task');
      for (const table of ['message', 'event', 'execution', 'request', 'step', 'artifact', 'artifact_part']) {
        const own =
          table === 'artifact_part' ? 'artifact not in (select pk from artifact)' : 'task <> (select pk from task)';
        assert.deepEqual(stage.query(`select * from ${table} where ${own}`), [], table);
      }
      assert.equal(stage.counted().runs, FINISHED + 1, 'nothing ran again');
      await stage.expectClean();
    });
  }
});
