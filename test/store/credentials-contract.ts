import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TaskView } from '../../core/ports/task-store.ts';
import type { Credential } from '../../core/ports/vault.ts';
import { ALICE, accept, BOB, become, claimOne, end, peekAccept } from './scenario.ts';
import type { Subject, SubjectFactory } from './subject.ts';

const HOUR = 3_600_000;

function token(subject: Subject, hash: string, lifeMs = HOUR): Credential {
  return { hash, expiresAt: subject.now() + lifeMs, sealed: `sealed ${hash}` };
}

function park({ store }: Subject, taskId: string, tokenHash: string): Promise<unknown> {
  return store.update({ taskId }, (view) =>
    become(view, 'TASK_STATE_AUTH_REQUIRED', {
      parked: { ordinal: 1, tokenHash },
      executions: view.open.map(({ ordinal }) => ({ close: ordinal, outcome: 'done' })),
    }),
  );
}

const resume = (view: TaskView) =>
  become(view, 'TASK_STATE_WORKING', { parked: null, executions: [{ requeue: view.record.parked?.ordinal ?? 0 }] });

const nothing = () => undefined;

export function credentialsContract(label: string, open: SubjectFactory): void {
  test(`${label} credentials: one that comes with a message is stored in that commit and seen by decide`, async (t) => {
    const subject = await open(t);
    const credential = token(subject, 'a');
    await accept(subject, { id: 't1', credential });
    assert.deepEqual(await subject.store.credential(ALICE), credential);
    assert.equal(await subject.store.credential(BOB), undefined);
    assert.equal(await subject.store.credential({ ...ALICE, tenant: 'rovo:site-two' }), undefined);
    const seen = await peekAccept(subject, { owner: ALICE, taskId: 't1' });
    assert.equal(seen.task?.credentialHash, 'a');
  });

  test(`${label} credentials: a refused message and a repeat store none`, async (t) => {
    const subject = await open(t);
    await peekAccept(subject, { owner: ALICE, credential: token(subject, 'refused') });
    assert.equal(await subject.store.credential(ALICE), undefined);
    await accept(subject, { id: 't1', key: 'm1' });
    await accept(subject, { id: 't2', key: 'm1', credential: token(subject, 'repeated') });
    assert.equal(await subject.store.credential(ALICE), undefined);
  });

  test(`${label} credentials: another token replaces the stored one unless it ends earlier`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', credential: token(subject, 'a') });
    const renew = async (credential: Credential) =>
      (await subject.store.renewCredential(ALICE, credential, nothing)).stored;
    assert.equal(await renew(token(subject, 'a', 2 * HOUR)), false);
    assert.equal(await renew(token(subject, 'shorter', HOUR - 1)), false);
    assert.equal((await subject.store.credential(ALICE))?.hash, 'a');
    assert.equal(await renew(token(subject, 'same-end')), true);
    const { sealed, ...unsealed } = token(subject, 'longer', 2 * HOUR);
    assert.equal(await renew(unsealed), true);
    assert.deepEqual(await subject.store.credential(ALICE), unsealed, `kept ${sealed}`);
  });

  test(`${label} credentials: none without a live task, and it goes with the last one`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    const credential = token(subject, 'a');
    assert.equal((await store.renewCredential(ALICE, credential, nothing)).stored, false);
    await accept(subject, { id: 't1', credential });
    await accept(subject, { id: 't2', owner: { ...ALICE, agent: 'other' } });
    await accept(subject, { id: 't3', owner: BOB });
    await end(subject, 't1');
    assert.equal((await store.credential(ALICE))?.hash, 'a');
    await end(subject, 't2');
    assert.equal(await store.credential(ALICE), undefined);
    assert.equal((await store.renewCredential(ALICE, credential, nothing)).stored, false);
  });

  test(`${label} credentials: an expired one is not answered, not stored, and swept`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    await accept(subject, { id: 't1', credential: token(subject, 'short', 1_000) });
    await accept(subject, { id: 't2', owner: BOB, credential: token(subject, 'long') });
    subject.advance(1_000);
    assert.equal(await store.credential(ALICE), undefined);
    assert.equal((await peekAccept(subject, { owner: ALICE, taskId: 't1' })).task?.credentialHash, undefined);
    assert.equal((await store.renewCredential(ALICE, token(subject, 'stale', 0), nothing)).stored, false);
    assert.deepEqual(await store.sweepCredentials(), new Set(['long']));
    assert.equal((await store.renewCredential(ALICE, token(subject, 'new', 500), nothing)).stored, true);
  });

  test(`${label} credentials: a fresh token resumes every task of the principal that waits for another one`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    await accept(subject, { id: 'refused', credential: token(subject, 'a') });
    await accept(subject, { id: 'missing', owner: { ...ALICE, agent: 'other' } });
    await accept(subject, { id: 'running' });
    await accept(subject, { id: 'foreign', owner: BOB });
    await park(subject, 'refused', 'a');
    await park(subject, 'missing', '');
    await park(subject, 'foreign', '');
    subject.notified();
    const renewed = await store.renewCredential(ALICE, token(subject, 'b'), (view) => {
      assert.equal(view.credentialHash, 'b');
      return resume(view);
    });
    assert.deepEqual(renewed, { stored: true, resumed: ['refused', 'missing'] });
    assert.deepEqual(new Set(subject.notified()), new Set(['task:refused', 'task:missing', 'work']));
    assert.equal((await store.record(ALICE, 'refused'))?.status.state, 'TASK_STATE_WORKING');
    const again = await store.renewCredential(ALICE, token(subject, 'c', 2 * HOUR), resume);
    assert.deepEqual(again, { stored: true, resumed: [] });
  });

  test(`${label} credentials: the refused token itself resumes nothing, a stored other one does`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    const refused = token(subject, 'a');
    await accept(subject, { id: 't1', credential: refused });
    await park(subject, 't1', 'a');
    assert.deepEqual(await store.renewCredential(ALICE, refused, resume), { stored: false, resumed: [] });
    assert.equal(await store.credential(ALICE), undefined, 'the refused one is not kept');
    const fresh = token(subject, 'b', HOUR / 2);
    await accept(subject, { id: 't2', credential: fresh });
    assert.deepEqual(await store.renewCredential(ALICE, fresh, resume), { stored: false, resumed: ['t1'] });
  });

  test(`${label} credentials: a token that ends earlier takes the place of the refused one`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    await accept(subject, { id: 't1', credential: token(subject, 'a', 2 * HOUR) });
    await park(subject, 't1', 'a');
    const shorter = token(subject, 'b', HOUR);
    assert.deepEqual(await store.renewCredential(ALICE, shorter, resume), { stored: true, resumed: ['t1'] });
  });

  test(`${label} credentials: a task that found none leaves none that could not be opened`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', credential: token(subject, 'a', 2 * HOUR) });
    await park(subject, 't1', '');
    assert.equal(await subject.store.credential(ALICE), undefined);
    const same = token(subject, 'a', 2 * HOUR);
    assert.deepEqual(await subject.store.renewCredential(ALICE, same, resume), { stored: true, resumed: ['t1'] });
  });

  test(`${label} credentials: a decide that throws while resuming leaves the old token`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', credential: token(subject, 'a') });
    await park(subject, 't1', 'z');
    const thrown = new Error('cannot resume');
    const refused = subject.store.renewCredential(ALICE, token(subject, 'b'), () => {
      throw thrown;
    });
    await assert.rejects(refused, { message: thrown.message });
    assert.equal((await subject.store.credential(ALICE))?.hash, 'a');
  });

  test(`${label} credentials: a removed tenant keeps and gets none`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1', credential: token(subject, 'a') });
    await claimOne(subject);
    await subject.tenants.remove(ALICE.tenant);
    assert.equal(await subject.store.credential(ALICE), undefined);
    const renewed = await subject.store.renewCredential(ALICE, token(subject, 'b'), resume);
    assert.deepEqual(renewed, { stored: false, resumed: [] });
    assert.deepEqual(await subject.store.sweepCredentials(), new Set());
  });
}
