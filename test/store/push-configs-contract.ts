import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isDomainError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { PushConfigs } from '../../core/ports/push-configs.ts';
import { ALICE, accept, BOB, create, status } from './scenario.ts';
import type { Subject } from './subject.ts';

export interface PushSubject extends Subject {
  readonly configs: PushConfigs;
}

const URL = 'https://hooks.harbor.example/x';

const notFound = (error: unknown) => isDomainError(error, 'TASK_NOT_FOUND');

/** What every store promises about receivers of push notifications. */
export function pushConfigsContract(label: string, open: (t: TestContext) => Promise<PushSubject>): void {
  test(`${label} push configs: one is kept, replaced, listed and removed, under its task and id`, async (t) => {
    const { configs, ...subject } = await open(t);
    await accept(subject, { id: 't1' });
    await accept(subject, { id: 't2' });
    const authentication = { scheme: 'Bearer', credentials: 'c' };
    const full = { id: 'p1', taskId: 't1', url: URL, token: 's', authentication };
    const bare = { id: 'p2', taskId: 't1', url: `${URL}2` };
    await configs.put(ALICE, full);
    await configs.put(ALICE, bare);
    await configs.put(ALICE, { ...bare, taskId: 't2' });
    assert.deepEqual(await configs.get(ALICE, 't1', 'p1'), full);
    assert.deepEqual(await configs.list(ALICE, 't1', { limit: 10 }), { configs: [full, bare], more: false });
    await configs.put(ALICE, { ...bare, id: 'p1' });
    assert.deepEqual(await configs.get(ALICE, 't1', 'p1'), { ...bare, id: 'p1' }, 'nothing of the former one');
    await configs.remove(ALICE, 't1', 'p1');
    await configs.remove(ALICE, 't1', 'p1');
    assert.equal(await configs.get(ALICE, 't1', 'p1'), undefined);
    assert.deepEqual((await configs.list(ALICE, 't2', { limit: 10 })).configs, [{ ...bare, taskId: 't2' }]);
  });

  test(`${label} push configs: pages go by id, each one once [3.1.9-all]`, async (t) => {
    const { configs, ...subject } = await open(t);
    await accept(subject, { id: 't1' });
    for (const id of ['b', 'a', 'c', 'B', 'é']) await configs.put(ALICE, { id, taskId: 't1', url: URL });
    const seen: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await configs.list(ALICE, 't1', { limit: 2, ...(after === undefined ? {} : { after }) });
      seen.push(...page.configs.map(({ id }) => id));
      after = page.configs.at(-1)?.id;
      if (!page.more) break;
    }
    assert.deepEqual(seen, ['B', 'a', 'b', 'c', 'é']);
  });

  test(`${label} push configs: somebody else's task is a missing one, in every operation [3.1.8-refused]`, async (t) => {
    const { configs, ...subject } = await open(t);
    await accept(subject, { id: 't1' });
    await configs.put(ALICE, { id: 'p1', taskId: 't1', url: URL });
    for (const taskId of ['t1', 'nope']) {
      const owner = taskId === 't1' ? BOB : ALICE;
      await assert.rejects(configs.put(owner, { id: 'p2', taskId, url: URL }), notFound);
      await assert.rejects(configs.get(owner, taskId, 'p1'), notFound);
      await assert.rejects(configs.list(owner, taskId, { limit: 1 }), notFound);
      await assert.rejects(configs.remove(owner, taskId, 'p1'), notFound);
    }
    assert.equal((await configs.list(ALICE, 't1', { limit: 10 })).configs.length, 1);
  });

  test(`${label} push configs: a task has so many and no more, and may still replace one`, async (t) => {
    const { configs, ...subject } = await open(t);
    await accept(subject, { id: 't1' });
    const config = { taskId: 't1', url: URL };
    for (let n = 0; n < LIMITS.pushConfigsMax; n += 1) await configs.put(ALICE, { ...config, id: `p${n}` });
    await assert.rejects(configs.put(ALICE, { ...config, id: 'more' }), (error) =>
      isDomainError(error, 'INVALID_PARAMS'),
    );
    await configs.put(ALICE, { ...config, id: 'p0', url: `${URL}0` });
    assert.equal((await configs.get(ALICE, 't1', 'p0'))?.url, `${URL}0`);
  });

  test(`${label} push configs: one that comes with a message is in the message's commit, also on a repeat`, async (t) => {
    const { configs, store } = await open(t);
    const request = { owner: ALICE, key: { contextId: '', messageId: 'm1', fingerprint: 'f' } };
    const config = { id: 'p1', url: URL, token: 's' };
    await store.accept({ ...request, pushConfig: config }, (view) => create(view, { id: 't1' }));
    assert.deepEqual(await configs.get(ALICE, 't1', 'p1'), { ...config, taskId: 't1' });
    await store.accept({ ...request, pushConfig: { id: 'p2', url: URL } }, (view) => {
      assert.ok(view.repeat);
      return { kind: 'repeat' };
    });
    assert.equal((await configs.list(ALICE, 't1', { limit: 10 })).configs.length, 2);
    await store.accept({ owner: ALICE, taskId: 't1', pushConfig: { id: 'p3', url: URL } }, (view) => ({
      kind: 'continue',
      taskId: 't1',
      answer: 'task',
      change: { status: status('TASK_STATE_WORKING', view.now) },
    }));
    assert.equal((await configs.list(ALICE, 't1', { limit: 10 })).configs.length, 3);
    const refused = store.accept({ owner: ALICE, pushConfig: config }, () => {
      throw new Error('no');
    });
    await assert.rejects(refused, /no/);
    assert.equal((await configs.list(ALICE, 't1', { limit: 10 })).configs.length, 3);
  });

  test(`${label} push configs: they outlive the end of their task and go with it [3.1.7-kept]`, async (t) => {
    const { configs, store, advance, ...subject } = await open(t);
    await accept(
      { ...subject, store, advance },
      { id: 't1', state: 'TASK_STATE_COMPLETED', change: { executions: [] } },
    );
    await configs.put(ALICE, { id: 'p1', taskId: 't1', url: URL });
    advance(1_000);
    assert.equal(await store.purge(1_000, 10), 1);
    await assert.rejects(configs.get(ALICE, 't1', 'p1'), notFound);
    await accept({ ...subject, store, advance }, { id: 't1' });
    assert.deepEqual((await configs.list(ALICE, 't1', { limit: 10 })).configs, []);
  });
}
