import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FreeSlots, takeSlot } from '../../core/ports/slots.ts';
import type { Claims, TaskStore } from '../../core/ports/task-store.ts';
import { ALICE, accept, BOB, claim, end, finish, LEASE_MS, rejectsWith, say } from './scenario.ts';
import type { Subject, SubjectFactory } from './subject.ts';

const CAROL = { actor: 'carol' };

function slotsOf(count: number): FreeSlots {
  const slots = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  slots[0] = count;
  return slots;
}

type Begin = Parameters<TaskStore['claim']>[1];
const asItIs: Begin = () => undefined;

interface Wanted {
  readonly limit?: number;
  readonly slots?: FreeSlots;
  readonly begin?: Begin;
}

function claims({ store }: Subject, { limit = 10, slots, begin = asItIs }: Wanted = {}): Promise<Claims> {
  const request = { agent: 'agent', worker: 'worker-1', leaseMs: LEASE_MS, limit };
  return store.claim(slots ? { ...request, slots } : request, begin);
}

const seen = ({ claimed, more }: Claims) => [claimed.map(({ fence }) => fence.taskId).join(' '), more];

async function queue(subject: Subject, count: number, owner = ALICE): Promise<void> {
  for (let n = 1; n <= count; n += 1) await accept(subject, { id: `t${n}`, owner });
}

/** How many turns a claim takes, and what it says of those that it leaves. */
export function slotsContract(label: string, open: SubjectFactory): void {
  test(`${label} claim: says that there are more when it ended at its limit and others wait`, async (t) => {
    const subject = await open(t);
    assert.deepEqual(seen(await claims(subject)), ['', false]);
    await queue(subject, 3);
    assert.deepEqual(seen(await claims(subject, { limit: 2 })), ['t1 t2', true]);
    assert.deepEqual(seen(await claims(subject, { limit: 2 })), ['t3', false]);
  });

  test(`${label} claim: that took all that waited says so, however exactly`, async (t) => {
    const subject = await open(t);
    await queue(subject, 2);
    assert.deepEqual(seen(await claims(subject, { limit: 2 })), ['t1 t2', false]);
  });

  test(`${label} claim: what waits for another agent is not more`, async (t) => {
    const subject = await open(t);
    await queue(subject, 1);
    await accept(subject, { id: 'other', owner: { ...ALICE, agent: 'another-agent' } });
    assert.deepEqual(seen(await claims(subject, { limit: 1 })), ['t1', false]);
  });

  test(`${label} claim: turns whose leases ran out are more like those that never ran`, async (t) => {
    const subject = await open(t);
    await queue(subject, 3);
    await claim(subject, 'dead');
    subject.advance(LEASE_MS);
    assert.deepEqual(seen(await claims(subject, { limit: 2 })), ['t1 t2', true]);
    assert.deepEqual(seen(await claims(subject, { limit: 1 })), ['t3', false]);
    await accept(subject, { id: 'new' });
    subject.advance(LEASE_MS);
    assert.deepEqual(seen(await claims(subject, { limit: 4 })), ['new t1 t2 t3', false]);
  });

  test(`${label} claim: behind its limit, turns that may not run count as more; with room left they do not`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 'paused', owner: { ...BOB, tenant: 'rovo:site-two' } });
    await subject.operator.pauseTenant(CAROL, 'rovo:site-two');
    await accept(subject, { id: 't1' });
    await say(subject, 't1', 'waits for its own task');
    assert.deepEqual(seen(await claims(subject, { limit: 1 })), ['t1', true]);
    assert.deepEqual(seen(await claims(subject, { limit: 1 })), ['', false]);
  });

  test(`${label} claim: takes a slot for each turn and ends without one, saying that there are more`, async (t) => {
    const subject = await open(t);
    const slots = slotsOf(2);
    await queue(subject, 3);
    assert.deepEqual(seen(await claims(subject, { slots })), ['t1 t2', true]);
    assert.equal(slots[0], 0);
    assert.deepEqual(seen(await claims(subject, { slots })), ['', true]);
    assert.equal(slots[0], 0);
    assert.deepEqual(seen(await claims(subject, { slots: slotsOf(5) })), ['t3', false]);
  });

  test(`${label} claim: sees slots that go while it is under way`, async (t) => {
    const subject = await open(t);
    const slots = slotsOf(3);
    await queue(subject, 3);
    const begin: Begin = () => {
      takeSlot(slots);
      return undefined;
    };
    assert.deepEqual(seen(await claims(subject, { slots, begin })), ['t1 t2', true]);
    assert.equal(slots[0], 0);
  });

  test(`${label} claim: the turn that found no slot keeps its place and its lane`, async (t) => {
    const subject = await open(t);
    await queue(subject, 2);
    await claims(subject, { slots: slotsOf(1) });
    await accept(subject, { id: 'other', owner: { ...BOB, tenant: 'rovo:site-two' } });
    assert.deepEqual(await subject.store.backlog(), { waiting: 2, leased: 1, oldestMs: 0 });
    // One of its tenant runs, so the other one comes first, and nothing is counted against it that it did not get.
    assert.deepEqual(seen(await claims(subject, { slots: slotsOf(2) })), ['other t2', false]);
  });

  test(`${label} claim: a turn whose time was up gives its slot back`, async (t) => {
    const subject = await open(t);
    const slots = slotsOf(3);
    await queue(subject, 3);
    const begin: Begin = (view) => (view.record.id === 't2' ? finish(view, 'TASK_STATE_FAILED') : undefined);
    assert.deepEqual(seen(await claims(subject, { slots, begin })), ['t1 t3', false]);
    assert.equal(slots[0], 1);
  });

  test(`${label} claim: one that fails gives all its slots back`, async (t) => {
    const subject = await open(t);
    const slots = slotsOf(3);
    await queue(subject, 3);
    const begin: Begin = (view) => {
      if (view.record.id === 't3') throw new RangeError('not this one');
      return undefined;
    };
    await assert.rejects(claims(subject, { slots, begin }), { name: 'RangeError' });
    assert.equal(slots[0], 3);
    assert.deepEqual(await subject.store.backlog(), { waiting: 3, leased: 0, oldestMs: 0 });
  });

  test(`${label} claim: rolled back for its neighbour and run again it has its slots once`, async (t) => {
    const subject = await open(t);
    const slots = slotsOf(5);
    await queue(subject, 3);
    const claimed = claims(subject, { slots });
    // It has written when it is refused, so the whole group is rolled back.
    const spoilt = accept(subject, { id: 't1', owner: BOB });
    const again = claims(subject, { slots });
    await rejectsWith(spoilt, 'STORE_UNAVAILABLE');
    assert.deepEqual(seen(await claimed), ['t1 t2 t3', false]);
    assert.deepEqual(seen(await again), ['', false]);
    assert.equal(slots[0], 2);
    await end(subject, 't1');
    assert.equal(slots[0], 2, 'a slot is its runner’s business from then on');
  });
}
