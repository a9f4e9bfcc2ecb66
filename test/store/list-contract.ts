import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../core/limits.ts';
import type { ListFilter, ListPage, ListPosition } from '../../core/ports/task-store.ts';
import type { TaskState } from '../../core/task.ts';
import { ALICE, accept, BOB, become, claim, claimOne, end, message, say, write } from './scenario.ts';
import type { Subject, SubjectFactory } from './subject.ts';

function list({ store }: Subject, filter: ListFilter = {}, limit = 100): Promise<ListPage> {
  return store.list(ALICE, { filter, limit, artifacts: false, historyLength: 0 });
}

const ids = (page: ListPage) => page.snapshots.map(({ record }) => record.id);

function setState({ store }: Subject, taskId: string, state: TaskState): Promise<unknown> {
  return store.update({ taskId }, (view) => become(view, state));
}

export function listContract(label: string, open: SubjectFactory): void {
  test(`${label} list: newest status first, equal ones by id descending, only the owner's`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 'b' });
    await accept(subject, { id: 'a' });
    await accept(subject, { id: 'Z' });
    await accept(subject, { id: 'foreign', owner: BOB });
    subject.advance(10);
    await accept(subject, { id: 'newer' });
    assert.deepEqual(ids(await list(subject)), ['newer', 'b', 'a', 'Z']);
    subject.advance(10);
    await setState(subject, 'a', 'TASK_STATE_WORKING');
    assert.deepEqual(ids(await list(subject)), ['a', 'newer', 'b', 'Z']);
    await say(subject, 'Z', 'a message is no status');
    assert.deepEqual(ids(await list(subject)), ['a', 'newer', 'b', 'Z']);
  });

  test(`${label} list: pages join without gap or double, also among equal times, and every page knows the total`, async (t) => {
    const subject = await open(t);
    for (let n = 0; n < 23; n += 1) {
      await accept(subject, { id: `t${String(n).padStart(2, '0')}` });
      if (n % 5 === 0) subject.advance(1);
    }
    const all = ids(await list(subject));
    for (const size of [1, 4, 23, 24]) {
      const seen: string[] = [];
      let after: ListPosition | undefined;
      for (;;) {
        const page = await subject.store.list(ALICE, {
          filter: {},
          limit: size,
          artifacts: false,
          ...(after ? { after } : {}),
        });
        assert.equal(page.total, 23);
        seen.push(...ids(page));
        const last = page.snapshots.at(-1)?.record;
        if (!page.more || !last) break;
        after = { statusAt: Date.parse(last.status.timestamp), id: last.id };
      }
      assert.deepEqual(seen, all);
    }
  });

  test(`${label} list: a task that moves to the front while somebody pages hides no other one`, async (t) => {
    const subject = await open(t);
    for (const id of ['t1', 't2', 't3', 't4']) {
      await accept(subject, { id });
      subject.advance(1);
    }
    const first = await list(subject, {}, 2);
    assert.deepEqual(ids(first), ['t4', 't3']);
    await setState(subject, 't1', 'TASK_STATE_WORKING');
    const last = first.snapshots.at(-1)?.record;
    assert(last);
    const second = await subject.store.list(ALICE, {
      filter: {},
      limit: 2,
      artifacts: false,
      after: { statusAt: Date.parse(last.status.timestamp), id: last.id },
    });
    assert.deepEqual(ids(second), ['t2']);
    assert.equal(second.more, false);
  });

  test(`${label} list: filters by context, state and time, alone and together`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', contextId: 'c1' });
    await accept(subject, { id: 't2', contextId: 'c2' });
    await accept(subject, { id: 'f1', contextId: 'c1', owner: BOB });
    subject.advance(1_000);
    const since = subject.now();
    await accept(subject, { id: 't3', contextId: 'c1' });
    await setState(subject, 't2', 'TASK_STATE_WORKING');
    const cases: readonly [ListFilter, readonly string[]][] = [
      [{}, ['t3', 't2', 't1']],
      [{ contextId: 'c1' }, ['t3', 't1']],
      [{ contextId: 'C1' }, []],
      [{ contextId: 'never-seen' }, []],
      [{ state: 'TASK_STATE_WORKING' }, ['t2']],
      [{ statusSince: since }, ['t3', 't2']],
      [{ statusSince: since + 1 }, []],
      [{ contextId: 'c1', statusSince: since }, ['t3']],
      [{ contextId: 'c1', state: 'TASK_STATE_WORKING' }, []],
      [{ contextId: 'c2', state: 'TASK_STATE_WORKING', statusSince: since }, ['t2']],
    ];
    for (const [filter, expected] of cases) {
      const page = await list(subject, filter);
      assert.deepEqual(ids(page), expected, JSON.stringify(filter));
      assert.equal(page.total, expected.length, JSON.stringify(filter));
      assert.equal(page.more, false);
    }
    const firstOnly = await list(subject, { contextId: 'c1' }, 1);
    assert.deepEqual([ids(firstOnly), firstOnly.total, firstOnly.more], [['t3'], 2, true]);
  });

  test(`${label} list: history and artifacts as asked for`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', text: 'one' });
    await say(subject, 't1', 'two');
    await say(subject, 't1', 'three');
    const { fence } = await claimOne(subject);
    await accept(subject, { id: 't2' });
    await write(subject, fence, { text: 'x' });
    const full = await subject.store.list(ALICE, { filter: {}, limit: 9, artifacts: true, historyLength: 2 });
    assert.deepEqual(
      full.snapshots.map(({ task }) => [task.history, task.artifacts]),
      [
        [[message('hello')], []],
        [[message('two'), message('three')], [{ artifactId: 'answer', parts: [{ text: 'x' }] }]],
      ],
    );
    for (const { task } of (await list(subject)).snapshots) {
      assert.deepEqual(Object.keys(task).sort(), ['contextId', 'id', 'status']);
    }
    const whole = await subject.store.read(ALICE, 't1', { artifacts: false });
    assert.equal(whole?.task.history?.length, 3);
    assert.equal(await subject.store.read(BOB, 't1', { artifacts: false }), undefined);
    assert.equal(await subject.store.record(BOB, 't1'), undefined);
  });

  test(`${label} list: a page ends before it grows too large, counts what it shows, and never is empty`, async (t) => {
    const subject = await open(t);
    const long = 'x'.repeat(1_000);
    for (const id of ['t1', 't2', 't3']) {
      await accept(subject, { id, text: long });
      subject.advance(1);
    }
    await accept(subject, { id: 't4' });
    const { store } = subject;
    const page = async (maxBytes: number, more: { historyLength?: number; artifacts?: boolean } = {}) => {
      const {
        snapshots,
        more: rest,
        total,
      } = await store.list(ALICE, {
        ...{ filter: {}, limit: 4, maxBytes, artifacts: false, ...more },
      });
      assert.equal(total, 4);
      assert.equal(rest, snapshots.length < 4);
      return snapshots.map(({ record }) => record.id);
    };
    assert.deepEqual(await page(10_000), ['t4', 't3', 't2', 't1']);
    assert.deepEqual(await page(5_500), ['t4', 't3', 't2']);
    assert.deepEqual(await page(1), ['t4']);
    assert.deepEqual(await page(1_000, { historyLength: 0 }), ['t4', 't3', 't2', 't1']);
    const [first] = await claim(subject, 'worker-1', 1);
    assert.equal(first?.fence.taskId, 't1');
    await write(subject, first.fence, { text: long.repeat(3) });
    await say(subject, 't1', 'short');
    assert.deepEqual(await page(5_500, { historyLength: 1 }), ['t4', 't3', 't2', 't1']);
    assert.deepEqual(await page(3_000, { historyLength: 0, artifacts: true }), ['t4', 't3', 't2']);
  });

  test(`${label} list: tasks with long histories and many events fill a page as others do`, async (t) => {
    const subject = await open(t);
    const messages = Array.from({ length: 1_500 }, (_, n) => message(`${n + 1}`));
    for (const id of ['t1', 't2', 't3', 't4']) await accept(subject, { id, change: { messages } });
    const page = await subject.store.list(ALICE, { filter: {}, limit: 3, artifacts: true, maxBytes: 1_000_000 });
    assert.deepEqual(
      page.snapshots.map(({ task }) => [task.id, task.history]),
      ['t4', 't3', 't2'].map((id) => [id, messages]),
    );
    assert.equal(page.more, true);
  });

  test(`${label} earlier: the context's other tasks, newest first, with history and without artifacts`, async (t) => {
    const subject = await open(t);
    for (const id of ['t1', 't2', 't3', 't4']) {
      await accept(subject, { id, contextId: 'c1', text: id });
      subject.advance(1);
    }
    await accept(subject, { id: 'foreign', contextId: 'c1', owner: BOB });
    await accept(subject, { id: 'elsewhere', contextId: 'c2' });
    await end(subject, 't1');
    const earlier = await subject.store.earlier(ALICE, 'c1', 't4', 2);
    assert.deepEqual(
      earlier.map((task) => task.id),
      ['t3', 't2'],
    );
    const all = await subject.store.earlier(ALICE, 'c1', 't4', 10);
    assert.deepEqual(Object.keys(all[2] ?? {}).sort(), ['contextId', 'history', 'id', 'status']);
    assert.deepEqual(all[2]?.history, [message('t1')]);
    assert.equal(all[2]?.status.state, 'TASK_STATE_COMPLETED');
    assert.deepEqual(await subject.store.earlier(BOB, 'c2', 't4', 10), []);
    for (const id of ['large', 'larger']) {
      await accept(subject, { id, contextId: 'c1', text: 'x'.repeat(LIMITS.listBytes / 3) });
    }
    const few = await subject.store.earlier(ALICE, 'c1', 't4', 10);
    assert.deepEqual(
      few.map((task) => task.id),
      ['larger'],
    );
  });
}
