import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALICE, accept, BOB, claim, claimOne, end, peekAccept, requestFor, say, write } from './scenario.ts';
import type { SubjectFactory } from './subject.ts';

const SITE = ALICE.tenant;

export function tenantsContract(label: string, open: SubjectFactory): void {
  test(`${label} tenants: put creates, merges and is idempotent`, async (t) => {
    const { tenants } = await open(t);
    assert.equal(await tenants.get(SITE), undefined);
    const created = { id: SITE, status: 'active', attributes: { apiBase: 'https://api.example', cloud: 'c' } };
    assert.deepEqual(await tenants.put(SITE, created.attributes), created);
    assert.deepEqual(await tenants.put(SITE, created.attributes), created);
    const merged = { ...created, attributes: { apiBase: 'https://new.example', cloud: 'c', site: 's' } };
    assert.deepEqual(await tenants.put(SITE, { apiBase: 'https://new.example', site: 's' }), merged);
    assert.deepEqual(await tenants.get(SITE), merged);
  });

  test(`${label} tenants: a removed one stays removed, whatever comes late or twice`, async (t) => {
    const subject = await open(t);
    const { tenants } = subject;
    await tenants.put(SITE, { site: 's' });
    await tenants.remove(SITE);
    assert(subject.notified().includes('*'));
    subject.advance(60_000);
    await tenants.remove(SITE);
    const removed = { id: SITE, status: 'removed', attributes: { site: 's' }, removedForMs: 60_000 };
    assert.deepEqual(await tenants.get(SITE), removed);
    assert.deepEqual(await tenants.put(SITE, { site: 'late' }), removed);
    assert.deepEqual(await tenants.put(SITE, { site: 'late' }, { reviveAfterMs: 60_001 }), removed);
  });

  test(`${label} tenants: one that was never seen can be removed`, async (t) => {
    const { tenants } = await open(t);
    await tenants.remove(SITE);
    assert.equal((await tenants.put(SITE, { site: 'late' })).status, 'removed');
  });

  test(`${label} tenants: erase takes a removed tenant's tasks in batches and nobody else's`, async (t) => {
    const subject = await open(t);
    const { tenants, store } = subject;
    for (let n = 0; n < 45; n += 1) await accept(subject, { id: `t${n}`, key: `m${n}`, owner: n % 2 ? ALICE : BOB });
    const [claimed] = await claim(subject, 'worker-1', 1);
    assert(claimed);
    await write(subject, claimed.fence, { text: 'x' });
    const elsewhere = { ...ALICE, tenant: `${SITE}x` };
    await accept(subject, { id: 'elsewhere', owner: elsewhere });
    assert.equal(await tenants.erase(SITE, 100), 0);
    assert.deepEqual(await tenants.removedWithData(10), []);
    await tenants.remove(SITE);
    assert.deepEqual(await tenants.removedWithData(10), [SITE]);
    assert.equal(await tenants.erase(SITE, 30), 30);
    assert.equal(await tenants.erase(SITE, 30), 15);
    assert.equal(await tenants.erase(SITE, 30), 0);
    assert.deepEqual(await tenants.removedWithData(10), []);
    assert.equal(await store.record(ALICE, 't1'), undefined);
    assert.deepEqual(await store.events(ALICE, 't1', 0, 10), []);
    assert.equal((await peekAccept(subject, requestFor({ id: 'x', key: 'm1' }))).repeat, undefined);
    assert.equal((await tenants.get(SITE))?.status, 'removed');
    assert.equal((await store.record(elsewhere, 'elsewhere'))?.id, 'elsewhere');
  });

  test(`${label} tenants: revived after its time it is empty, and nothing of its former life is seen`, async (t) => {
    const subject = await open(t);
    const { tenants, store } = subject;
    await tenants.put(SITE, { site: 'old', cloud: 'old' });
    for (let n = 0; n < 50; n += 1) await accept(subject, { id: `t${n}`, key: `m${n}`, contextId: 'c1' });
    await tenants.remove(SITE);
    subject.advance(600_000);
    const revived = await Promise.all(
      Array.from({ length: 3 }, () => tenants.put(SITE, { site: 'new' }, { reviveAfterMs: 600_000 })),
    );
    for (const tenant of revived) {
      assert.deepEqual(tenant, { id: SITE, status: 'active', attributes: { site: 'new' } });
    }
    const page = await store.list(ALICE, { filter: {}, limit: 10, artifacts: false });
    assert.deepEqual(page, { snapshots: [], total: 0, more: false });
    assert.deepEqual(await claim(subject), []);
    assert.equal((await accept(subject, { id: 'again', key: 'm1', contextId: 'c1' })).kind, 'create');
    assert.equal((await claimOne(subject)).fence.taskId, 'again');
  });
}

export function retentionContract(label: string, open: SubjectFactory): void {
  test(`${label} purge: finished tasks of that age go with all that hangs on them, oldest first`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    await accept(subject, { id: 'running', contextId: 'c1' });
    for (let n = 0; n < 50; n += 1) {
      await accept(subject, { id: `t${n}`, key: `m${n}`, contextId: 'c1', owner: BOB });
      await end(subject, `t${n}`);
      subject.advance(1_000);
    }
    assert.equal(await store.purge(50_001, 100), 0);
    assert.equal(await store.purge(20_000, 25), 25);
    assert.equal(await store.record(BOB, 't24'), undefined);
    assert.equal((await store.record(BOB, 't25'))?.id, 't25');
    assert.equal(await store.purge(20_000, 25), 6);
    assert.equal(await store.purge(20_000, 25), 0);
    assert.deepEqual(await store.events(BOB, 't1', 0, 10), []);
    assert.equal((await peekAccept(subject, requestFor({ id: 'x', key: 'm1', owner: BOB }))).repeat, undefined);
    assert.equal((await store.list(BOB, { filter: { contextId: 'c1' }, limit: 100, artifacts: true })).total, 19);
    assert.equal((await store.record(ALICE, 'running'))?.id, 'running');
  });

  test(`${label} purge: age counts from the end, not from the beginning`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    subject.advance(10_000);
    await say(subject, 't1', 'still here');
    await end(subject, 't1');
    assert.equal(await subject.store.purge(1, 10), 0);
    subject.advance(1);
    assert.equal(await subject.store.purge(1, 10), 1);
  });
}
