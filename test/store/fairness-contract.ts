import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../core/limits.ts';
import type { Claimed } from '../../core/ports/task-store.ts';
import type { Owner } from '../../core/principal.ts';
import { ALICE, accept, claim, create, end, LEASE_MS, peekAccept, requestFor, say } from './scenario.ts';
import type { Subject, SubjectFactory } from './subject.ts';

const CAROL = { actor: 'carol' };

function of(tenant: string): Owner {
  return { ...ALICE, tenant };
}

async function queue(subject: Subject, tenant: string, count: number): Promise<void> {
  for (let n = 1; n <= count; n += 1) await accept(subject, { id: `${tenant}${n}`, owner: of(tenant) });
}

function ids(claimed: readonly Claimed[]): readonly string[] {
  return claimed.map(({ fence }) => fence.taskId);
}

/** Claims one and ends it, as a runner with one slot does. */
async function runOne(subject: Subject, worker = 'worker-1'): Promise<string> {
  const [claimed] = await claim(subject, worker, 1);
  assert(claimed, 'nothing was claimed');
  await end(subject, claimed.fence.taskId);
  return claimed.fence.taskId;
}

async function queued({ store }: Subject, tenant: string) {
  return (await peekAccept({ store } as Subject, requestFor({ id: 'peek', owner: of(tenant) }))).queued;
}

/** Whose turn it is, and what waits. */
export function fairnessContract(label: string, open: SubjectFactory): void {
  test(`${label} fairness: a tenant with nothing running is among the next claims of as many as there are tenants`, async (t) => {
    const subject = await open(t);
    for (const flooder of ['a', 'b', 'c']) await queue(subject, flooder, 40);
    for (let n = 0; n < 20; n += 1) await runOne(subject);
    await queue(subject, 'victim', 3);
    const seen: string[] = [];
    for (let n = 0; n < 12; n += 1) seen.push(await runOne(subject));
    for (const [n, id] of ['victim1', 'victim2', 'victim3'].entries()) {
      assert(seen.slice(n * 4, n * 4 + 4).includes(id), `${id} in round ${n + 1} of ${seen.join(' ')}`);
    }
  });

  test(`${label} fairness: the tenant with the fewest running turns is next, at whatever worker they run`, async (t) => {
    const subject = await open(t);
    await queue(subject, 'a', 10);
    await claim(subject, 'worker-1', 4);
    await queue(subject, 'b', 3);
    await queue(subject, 'c', 2);
    assert.deepEqual(ids(await claim(subject, 'worker-2', 6)), ['b1', 'c1', 'b2', 'c2', 'b3', 'a5']);
  });

  test(`${label} fairness: a tenant with running turns waits for no more claims than 32 for each and one of each other`, async (t) => {
    for (const running of [1, 2]) {
      const subject = await open(t);
      await queue(subject, 'slow', running + 1);
      await claim(subject, 'worker-1', running);
      const others = ['a', 'b', 'c', 'd', 'e'];
      for (const other of others) await queue(subject, other, 20);
      let claims = 1;
      for (; (await runOne(subject, 'worker-2')) !== `slow${running + 1}`; claims += 1);
      assert(claims > 16, `${claims}: few running turns come first`);
      assert(claims <= 32 * running + others.length + 1, `${claims} with ${running} running`);
    }
  });

  test(`${label} fairness: one claim of many goes round the tenants, oldest first within each`, async (t) => {
    const subject = await open(t);
    await queue(subject, 'a', 5);
    subject.advance(10);
    await queue(subject, 'b', 2);
    subject.advance(10);
    await queue(subject, 'c', 1);
    assert.deepEqual(ids(await claim(subject, 'worker-1', 7)), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  test(`${label} fairness: tenants whose turns cannot be claimed keep nobody waiting`, async (t) => {
    const subject = await open(t);
    for (let n = 1; n <= 12; n += 1) {
      await queue(subject, `paused${n}-`, 2);
      await subject.operator.pauseTenant(CAROL, `paused${n}-`);
    }
    for (let n = 1; n <= 12; n += 1) {
      await queue(subject, `busy${n}-`, 1);
      await claim(subject, `other-${n}`, 1);
      await say(subject, `busy${n}-1`, 'more');
    }
    await queue(subject, 'late', 2);
    assert.deepEqual(ids(await claim(subject, 'worker-1', 2)), ['late1', 'late2']);
    assert.deepEqual(ids(await claim(subject, 'worker-1', 2)), []);
  });

  test(`${label} fairness: a turn that was lost does not count as running`, async (t) => {
    const subject = await open(t);
    await queue(subject, 'victim', 3);
    await claim(subject, 'dead', 3);
    subject.advance(LEASE_MS);
    await queue(subject, 'flooder', 10);
    await claim(subject, 'worker-1', 2);
    const claimed = await claim(subject, 'worker-1', 4);
    assert.equal(claimed.filter(({ lost }) => lost).length, 2, ids(claimed).join(' '));
    assert.deepEqual(
      ids(claimed).filter((id) => id.startsWith('victim')),
      ['victim2', 'victim3'],
    );
  });

  test(`${label} fairness: no more than so many turns of one tenant at a worker`, async (t) => {
    const subject = await open(t);
    await queue(subject, 'a', 10);
    await queue(subject, 'b', 1);
    const take = async (worker: string, running: Readonly<Record<string, number>>) => {
      const perTenant = { max: 3, running: new Map(Object.entries(running)) };
      const request = { agent: 'agent', worker, leaseMs: LEASE_MS, limit: 8, perTenant };
      return (await subject.store.claim(request, () => undefined)).claimed;
    };
    assert.deepEqual(ids(await take('worker-1', { a: 1 })), ['a1', 'b1', 'a2']);
    assert.deepEqual(ids(await take('worker-1', { a: 3, b: 1 })), []);
    assert.deepEqual(ids(await take('worker-2', {})), ['a3', 'a4', 'a5']);
  });

  test(`${label} fairness: a claim ends before it reads too much, and says that there is more`, async (t) => {
    const subject = await open(t);
    // Twice in what is stored: its id is made of it.
    const text = 'x'.repeat(LIMITS.claimBytes * 0.2);
    for (const id of ['t1', 't2', 't3', 't4']) await accept(subject, { id, text });
    await say(subject, 't4', text);
    await say(subject, 't4', text);
    subject.notified();
    assert.deepEqual(ids(await claim(subject)), ['t1', 't2']);
    assert(subject.notified().includes('work'));
    assert.deepEqual(ids(await claim(subject)), ['t3']);
    subject.notified();
    // One always comes, however large.
    assert.deepEqual(ids(await claim(subject)), ['t4']);
    assert(!subject.notified().includes('work'));
  });

  test(`${label} queue: counts what waits, of the tenant and of everybody, through all that happens to a turn`, async (t) => {
    const subject = await open(t);
    const counts = async () => [await queued(subject, 'a'), await queued(subject, 'b')];
    assert.deepEqual(await counts(), [
      { tenant: 0, everybody: 0 },
      { tenant: 0, everybody: 0 },
    ]);
    await queue(subject, 'a', 4);
    await queue(subject, 'b', 1);
    await accept(subject, { id: 'other', owner: { ...of('a'), agent: 'another-agent' } });
    assert.deepEqual(await counts(), [
      { tenant: 4, everybody: 5 },
      { tenant: 1, everybody: 5 },
    ]);
    const held = await claim(subject, 'worker-1', 3);
    assert.deepEqual(await counts(), [
      { tenant: 2, everybody: 2 },
      { tenant: 0, everybody: 2 },
    ]);
    const { fence } = held[0] ?? assert.fail();
    await subject.store.update({ taskId: fence.taskId, fence }, () => ({ executions: [{ requeue: 1 }] }));
    await say(subject, fence.taskId, 'more');
    assert.deepEqual(await queued(subject, 'a'), { tenant: 4, everybody: 4 });
    await end(subject, fence.taskId, 'TASK_STATE_CANCELED');
    assert.deepEqual(await queued(subject, 'a'), { tenant: 2, everybody: 2 });
    subject.advance(LEASE_MS);
    await claim(subject, 'worker-2', 10);
    assert.deepEqual(await queued(subject, 'a'), { tenant: 0, everybody: 0 });
  });

  test(`${label} queue: a task that is erased with its tenant leaves it`, async (t) => {
    const subject = await open(t);
    await queue(subject, 'a', 3);
    await queue(subject, 'b', 2);
    await subject.tenants.remove('a');
    await subject.tenants.erase('a', 10);
    assert.deepEqual(await queued(subject, 'b'), { tenant: 2, everybody: 2 });
    assert.deepEqual(await queued(subject, 'a'), { tenant: 0, everybody: 2 });
  });

  test(`${label} queue: a repeat is not asked to find a place`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', key: 'm1', text: 'hello' });
    const view = await peekAccept(subject, requestFor({ id: 't2', key: 'm1', text: 'hello' }));
    assert.equal(view.repeat?.taskId, 't1');
    assert.deepEqual(view.queued, { tenant: 0, everybody: 0 });
    const fresh = await peekAccept(subject, requestFor({ id: 't2', key: 'm2' }));
    assert.deepEqual(fresh.queued, { tenant: 1, everybody: 1 });
    assert.equal(create(fresh, { id: 't2' }).kind, 'create');
  });
}
