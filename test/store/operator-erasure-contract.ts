import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Credential } from '../../core/ports/vault.ts';
import type { Owner } from '../../core/principal.ts';
import { audited, CAROL, refuses, withTime } from './operator-scenario.ts';
import { ALICE, accept, BOB, claimOne, peekAccept, rejectsWith, requestFor, write } from './scenario.ts';
import type { Subject, SubjectFactory } from './subject.ts';

const ELSEWHERE: Owner = { ...ALICE, tenant: 'rovo:site-two' };

function credentialFor(subject: Subject): Credential {
  return { hash: 'h', expiresAt: subject.now() + 1_000_000, sealed: 'sealed' };
}

function has({ store }: Subject, owner: Owner): Promise<Credential | undefined> {
  return store.credential(owner);
}

async function countOf(subject: Subject, owner: Owner): Promise<number> {
  return (await subject.store.list(owner, { filter: {}, limit: 1, artifacts: false })).total;
}

function erase(subject: Subject, tenant?: string): Promise<number> {
  const named = { principal: ALICE.principal, pseudonym: 'digest', ...(tenant ? { tenant } : {}) };
  return withTime(subject, subject.operator.erasePrincipal(CAROL, named));
}

export function erasureContract(label: string, open: SubjectFactory): void {
  test(`${label} erase of a principal: tasks, requests, contexts and credentials in every tenant, in batches; others keep theirs`, async (t) => {
    const subject = await open(t);
    const { store } = subject;
    const credential = credentialFor(subject);
    for (let n = 0; n < 45; n += 1) await accept(subject, { id: `a${n}`, key: `m${n}`, contextId: 'c1', credential });
    for (const owner of [ELSEWHERE, BOB])
      await accept(subject, { id: owner.tenant + owner.principal, owner, credential });
    assert.equal(await erase(subject), 46);
    assert.deepEqual(
      [await countOf(subject, ALICE), await countOf(subject, ELSEWHERE), await countOf(subject, BOB)],
      [0, 0, 1],
    );
    assert.deepEqual([await has(subject, ALICE), await has(subject, ELSEWHERE)], [undefined, undefined]);
    assert.equal((await has(subject, BOB))?.hash, 'h');
    assert.deepEqual(await store.events(ALICE, 'a1', 0, 10), []);
    assert.equal((await peekAccept(subject, requestFor({ id: 'x', key: 'm1' }))).repeat, undefined);
    assert.deepEqual(await audited(subject), [
      { ...CAROL, act: 'principal.erase', principal: 'digest', detail: { tasks: 46, tenants: 2 } },
    ]);
    await refuses(erase(subject), 'UNKNOWN_PRINCIPAL');
    // An account that is open all the same begins anew.
    assert.equal((await accept(subject, { id: 'again', key: 'm1', contextId: 'c1' })).kind, 'create');
  });

  test(`${label} erase of a principal: in one tenant only`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 'here' });
    await accept(subject, { id: 'there', owner: ELSEWHERE });
    assert.equal(await erase(subject, ELSEWHERE.tenant), 1);
    assert.deepEqual([await countOf(subject, ALICE), await countOf(subject, ELSEWHERE)], [1, 0]);
    await refuses(erase(subject, ELSEWHERE.tenant), 'UNKNOWN_PRINCIPAL', /rovo:site-two/);
    const [entry] = await audited(subject);
    assert.deepEqual([entry?.tenant, entry?.detail], [ELSEWHERE.tenant, { tasks: 1, tenants: 1 }]);
  });

  test(`${label} erase of a principal: a turn of theirs that runs is fenced, and everybody is woken to see it`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const { fence } = await claimOne(subject);
    subject.notified();
    await erase(subject);
    assert(subject.notified().includes('*'));
    await rejectsWith(write(subject, fence, { text: 'late' }), 'LEASE_LOST');
  });

  test(`${label} erase of a tenant: removed at once, then all of it goes; a second time there is nothing`, async (t) => {
    const subject = await open(t);
    const { operator, tenants } = subject;
    const eraseSite = () => withTime(subject, operator.eraseTenant(CAROL, ALICE.tenant));
    await refuses(eraseSite(), 'UNKNOWN_TENANT', /rovo:site-one/);
    const credential = credentialFor(subject);
    for (let n = 0; n < 45; n += 1) await accept(subject, { id: `t${n}`, owner: n % 2 ? ALICE : BOB, credential });
    await accept(subject, { id: 'elsewhere', owner: ELSEWHERE });
    assert.equal(await eraseSite(), 45);
    assert.equal((await tenants.get(ALICE.tenant))?.status, 'removed');
    assert.deepEqual([await countOf(subject, ALICE), await countOf(subject, BOB)], [0, 0]);
    assert.equal(await countOf(subject, ELSEWHERE), 1);
    assert.equal(await has(subject, ALICE), undefined);
    assert.equal((await peekAccept(subject, requestFor({ id: 'x' }))).tenant, 'removed');
    assert.equal(await eraseSite(), 0);
    const deed = { ...CAROL, act: 'tenant.erase', tenant: ALICE.tenant };
    assert.deepEqual(await audited(subject), [deed, deed]);
  });

  test(`${label} restore of a tenant: what is left of its data goes first, then its callers are let in; only a removed one`, async (t) => {
    const subject = await open(t);
    const { operator, tenants } = subject;
    const restoreSite = () => operator.restoreTenant(CAROL, ALICE.tenant);
    await refuses(restoreSite(), 'UNKNOWN_TENANT', /rovo:site-one/);
    for (let n = 0; n < 45; n += 1) await accept(subject, { id: `t${n}` });
    assert.equal(await restoreSite(), false);
    await tenants.remove(ALICE.tenant);
    assert.equal(await restoreSite(), true);
    assert.equal(await countOf(subject, ALICE), 0);
    assert.equal((await accept(subject, { id: 'again' })).kind, 'create');
    assert.equal(await restoreSite(), false);
    assert.deepEqual(await audited(subject), [{ ...CAROL, act: 'tenant.restore', tenant: ALICE.tenant }]);
  });
}
