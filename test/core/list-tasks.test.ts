import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { isDomainError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { textOf } from '../../core/message.ts';
import type { ListQuery } from '../../core/operations/operations.ts';
import type { Task } from '../../core/task.ts';
import { createClient, historyTexts } from '../support/client.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { createCore } from '../support/service.ts';

async function createSite(t: TestContext, clock: ManualClock = createManualClock()) {
  const core = await createCore(t, {
    clock,
    agent: async function* ({ message }) {
      const text = textOf(message.parts);
      yield { artifact: { artifactId: 'a', parts: [{ text }] } };
      yield { state: text.startsWith('ask') ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_COMPLETED' };
    },
  });
  const client = createClient(core);
  const list = (query: Partial<ListQuery> = {}, caller = client.caller) =>
    core.operations.listTasks(caller, { filter: {}, pageSize: 50, includeArtifacts: false, ...query });
  async function pages(query: Partial<ListQuery>): Promise<readonly Task[]> {
    const tasks: Task[] = [];
    for (let pageToken = ''; ; ) {
      const page = await list({ ...query, ...(pageToken ? { pageToken } : {}) });
      tasks.push(...page.tasks);
      pageToken = page.nextPageToken;
      if (!pageToken) return tasks;
    }
  }
  return { core, client, clock, list, pages };
}

describe('ListTasks', () => {
  it('an empty list has all four fields [3.1.4-fields]', async (t) => {
    const { list } = await createSite(t);
    assert.deepEqual(await list(), { tasks: [], totalSize: 0, pageSize: 50, nextPageToken: '' });
  });

  it('newest status first, a page after the other, each task once, also when many share a millisecond [3.1.4-order, 3.1.4-cursor]', async (t) => {
    const { client, clock, pages, list } = await createSite(t);
    const sent: string[] = [];
    for (let index = 0; index < 23; index += 1) {
      if (index % 5 === 0) clock.advance(1);
      sent.push((await client.send(`text ${index}`)).id);
    }
    for (const pageSize of [1, 2, 7, 23, 100]) {
      const tasks = await pages({ pageSize });
      assert.deepEqual(tasks.map((task) => task.id).sort(), [...sent].sort());
      const times = tasks.map((task) => task.status.timestamp);
      assert.deepEqual(times, [...times].sort().reverse());
    }
    const page = await list({ pageSize: 7 });
    assert.equal(page.totalSize, 23);
    assert.equal(page.tasks.length, 7);
  });

  it('a page holds no more than the budget and goes on behind it', async (t) => {
    const { client, list, pages } = await createSite(t);
    const sent = [];
    for (const name of ['a', 'b', 'c']) sent.push((await client.send(name + 'x'.repeat(LIMITS.listBytes / 3))).id);
    const first = await list({ historyLength: 1 });
    assert.equal(first.tasks.length, 2);
    assert.equal(first.totalSize, 3);
    assert.notEqual(first.nextPageToken, '');
    assert.deepEqual((await pages({})).map(({ id }) => id).sort(), [...sent].sort());
    assert.equal((await list({ historyLength: 0 })).tasks.length, 3);
  });

  it('artifacts only on request, then always; history as long as asked for [3.1.4-history]', async (t) => {
    const { client, list } = await createSite(t);
    const { id: taskId } = await client.send('ask');
    await client.send('answer', { taskId });
    assert.equal('artifacts' in ((await list()).tasks[0] ?? {}), false);
    const [task] = (await list({ includeArtifacts: true, historyLength: 1 })).tasks;
    assert.equal(textOf(task?.artifacts?.[0]?.parts ?? []), 'answer');
    assert.deepEqual(historyTexts(task ?? assert.fail()), ['answer']);
    assert.equal('history' in ((await list({ historyLength: 0 })).tasks[0] ?? {}), false);
  });

  it('filters by context, state and time of the status [3.1.4-filters]', async (t) => {
    const { client, clock, list } = await createSite(t);
    const early = await client.send('a', { contextId: 'c1' });
    clock.advance(1_000);
    const asked = await client.send('ask', { contextId: 'c1' });
    const other = await client.send('b', { contextId: 'c2' });
    const ids = async (filter: ListQuery['filter']) => (await list({ filter })).tasks.map((task) => task.id).sort();
    assert.deepEqual(await ids({ contextId: 'c1' }), [early.id, asked.id].sort());
    assert.deepEqual(await ids({ state: 'TASK_STATE_INPUT_REQUIRED' }), [asked.id]);
    assert.deepEqual(await ids({ statusSince: clock.now() }), [asked.id, other.id].sort());
    assert.deepEqual(await ids({ contextId: 'c1', state: 'TASK_STATE_COMPLETED', statusSince: 0 }), [early.id]);
    assert.deepEqual(await ids({ contextId: 'none' }), []);
  });

  it('a task that changes while somebody pages moves to the front; the others are neither lost nor repeated', async (t) => {
    const { client, clock, list } = await createSite(t);
    const asked = await client.send('ask');
    for (let index = 0; index < 5; index += 1) {
      clock.advance(1);
      await client.send(`text ${index}`);
    }
    const first = await list({ pageSize: 3 });
    clock.advance(1);
    await client.send('answer', { taskId: asked.id });
    const second = await list({ pageSize: 3, pageToken: first.nextPageToken });
    const seen = [...first.tasks, ...second.tasks].map((task) => task.id);
    assert.equal(new Set(seen).size, 5);
    assert.ok(!seen.includes(asked.id));
    assert.equal(second.nextPageToken, '');
    assert.equal((await list({ pageSize: 1 })).tasks[0]?.id, asked.id);
  });

  it('a page token belongs to its caller and its filter', async (t) => {
    const { core, client, list } = await createSite(t);
    for (const text of ['a', 'b', 'c']) await client.send(text, { contextId: 'c1' });
    const bob = core.caller('bob');
    for (const text of ['a', 'b', 'c']) await createClient(core, { caller: bob }).send(text, { contextId: 'c1' });
    const { nextPageToken: pageToken } = await list({ pageSize: 1 });
    const refused: readonly Promise<unknown>[] = [
      list({ pageToken }, bob),
      list({ pageToken }, core.caller('alice', { tenant: 'other' })),
      list({ pageToken, filter: { contextId: 'c1' } }),
      list({ pageToken, filter: { state: 'TASK_STATE_COMPLETED' } }),
      list({ pageToken, filter: { statusSince: 1 } }),
      list({ pageToken: 'x' }),
      list({ pageToken: `${pageToken.split('.')[0]}.zz!.id` }),
      list({ pageToken: `${pageToken.split('.')[0]}..` }),
      list({ pageToken: `${pageToken}`.slice(1) }),
    ];
    for (const attempt of refused) {
      await assert.rejects(
        attempt,
        (error) => isDomainError(error, 'INVALID_PARAMS') && error.violations[0]?.field === 'pageToken',
      );
    }
    assert.equal((await list({ pageToken, pageSize: 2, includeArtifacts: true })).tasks.length, 2);
  });
});
