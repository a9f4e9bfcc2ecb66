import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { after, before, describe, test } from 'node:test';
import { type Atlassian, startAtlassian } from '../../simulator/atlassian.ts';
import type { JiraClient } from '../../simulator/client/jira-client.ts';
import { LANTERN } from '../../simulator/site/lantern.ts';
import type { Site } from '../../simulator/site/site.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { CREDENTIAL, leftBy, type TaskRow, TENANT, told } from './matrix.ts';
import { createStage, POLICIES, type Policy, type Stage } from './stage.ts';

let atlassian: Atlassian;
before(async () => {
  atlassian = await startAtlassian();
});
after(() => atlassian.close());

interface Scene {
  readonly stage: Stage;
  readonly site: Site;
  at(service: ServiceProcess): JiraClient;
}

let sites = 0;
/** A site of its own: removing the app from it disturbs nobody. */
function openScene(t: TestContext, policy: Policy): Scene {
  sites += 1;
  const site = atlassian.openSite(`killed-${sites}`, LANTERN);
  const key = randomBytes(32).toString('base64');
  return {
    site,
    stage: createStage(t, policy, { ...atlassian.env, A2A_AUTH: 'off', CREDENTIALS_KEY: key }),
    at: ({ origin }) =>
      atlassian.client({
        url: `${origin}/rovo/a2a`,
        site: site.name,
        invocationToken: { includeSiteUrl: true },
      }),
  };
}

describe('a process that is killed while a token is renewed', { concurrency: 3 }, () => {
  for (const [point, row] of Object.entries<TaskRow>(CREDENTIAL)) {
    for (const policy of POLICIES) {
      test(`killed ${point}, ${policy} agent: ${told(row[policy])}`, async (t) => {
        const { stage, site, at } = openScene(t, policy);
        const first = stage.launchToDie(point);
        await first.ready();
        const revoked = site.newToken('alice');
        site.tokens.revoke(revoked);
        const chat = at(first).chat('read SHOP-1\ncomplete Read.', { userToken: { token: revoked } });
        const asked = await chat.sync();
        assert.equal(asked.task?.status.state, 'TASK_STATE_AUTH_REQUIRED', asked.text);
        const taskId = String(asked.task?.id);
        const fresh = { userToken: { token: site.newToken('alice') } } as const;
        await assert.rejects(at(first).get(taskId, fresh));
        await stage.died(first);
        assert.deepEqual(stage.states(), [leftBy(row, policy)], 'what it left');

        const second = await stage.start();
        const client = at(second);
        if (row.client !== 'polls') await client.get(taskId, fresh);
        const task = await until('the task has ended', async () => {
          const answer = await client.get(taskId, { userToken: 'none' });
          return answer.task?.status.state === `TASK_STATE_${row[policy].state}` && answer.task;
        });
        const { runs, effects } = stage.counted(task.id);
        assert.deepEqual([runs, effects.length], [row[policy].runs, row[policy].effects], 'runs and effects');
        assert.deepEqual(stage.query('select * from credential'), [], 'the token goes with the last live task');
        await stage.expectClean();
      });
    }
  }
});

/** More than one batch of twenty; one of them is a task that runs. */
const TASKS = 25;
const BATCH = 20;

/** Rows of any table that hold the text somewhere, but for the row that says that the installation is gone. */
function mentions(stage: Stage, text: string): readonly string[] {
  const tables = stage.query<{ name: string }>("select name from sqlite_schema where type = 'table'");
  return tables.flatMap(({ name }) =>
    stage
      .query(`select * from ${name}`)
      .filter((row) => name !== 'tenant' && JSON.stringify(row).includes(text))
      .map((row) => `${name}: ${JSON.stringify(row)}`),
  );
}

interface Left {
  readonly status: 'active' | 'removed';
  readonly tasks: number;
  /** Does the client hear that its installation was removed? */
  readonly answered: boolean;
}

const LEFT: Readonly<Record<keyof typeof TENANT, Left>> = {
  'before the commit of a removal': { status: 'active', tasks: TASKS, answered: false },
  'after the commit of a removal': { status: 'removed', tasks: TASKS, answered: false },
  'before the commit of an erasure batch': { status: 'removed', tasks: TASKS, answered: true },
  'after the commit of an erasure batch': { status: 'removed', tasks: TASKS - BATCH, answered: true },
};

describe('a process that is killed while an installation is removed', { concurrency: 2 }, () => {
  for (const [point, left] of Object.entries(LEFT)) {
    test(`killed ${point}: ${TENANT[point as keyof typeof TENANT].afterwards}`, async (t) => {
      const { stage, site, at } = openScene(t, 'rerun');
      const first = stage.launchToDie(point, { LEASE_MS: '30000' });
      await first.ready();
      const client = at(first);
      const chats = Array.from({ length: TASKS - 1 }, () => client.chat('complete Done.').sync());
      for (const { task, text } of await Promise.all(chats)) assert.ok(task, text);
      const streaming = client.chat('say Started.\nhang\ncomplete Too late.').stream();
      await until('one hangs', () => stage.counted().runs === TASKS);
      assert.equal(stage.query('select 1 from credential').length, 1);
      const { delivered } = await client.uninstall();
      assert.equal(delivered, left.answered);
      await stage.died(first);
      await streaming.catch(() => undefined);
      assert.equal(stage.states().length, left.tasks, 'the tasks that it left');
      assert.deepEqual(
        stage.query<{ status: string }>('select status from tenant').map(({ status }) => status),
        [left.status],
      );
      assert.equal(stage.query('select 1 from credential').length, left.status === 'active' ? 1 : 0);

      const second = at(await stage.start());
      if (left.status === 'active') {
        assert.equal((await second.chat('complete Still here.').sync()).task?.status.state, 'TASK_STATE_COMPLETED');
        assert.equal((await second.uninstall()).delivered, true);
      }
      const runs = stage.counted().runs;
      assert.equal((await second.chat('complete').sync()).status, 401);
      await until('all of it is erased', () => stage.states().length === 0);
      const { accountId } = site.records.person('alice');
      for (const id of [site.installation().id, accountId]) assert.deepEqual(mentions(stage, id), []);
      assert.equal(stage.counted().runs, runs, 'nothing of it runs any more');
      await stage.expectClean();
    });
  }
});
