import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createOperations } from '../../core/operations/create-operations.ts';
import type { TaskStore } from '../../core/ports/task-store.ts';
import { sha256, timeOrderedIds } from '../../src/system-clock.ts';
import { type Client, createClient } from '../support/client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { type Core, createCore } from '../support/service.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { createGate, type Gate, until } from '../support/until.ts';

/*
 * A blocking send reads its task once, when it is told that it stopped; turns are claimed here, so that not all of it is
 * told (told-end.test.ts). Time stands still in all of these, so nobody polls: a notice that is missed is a test that never
 * ends.
 */

interface Site {
  readonly core: Core;
  readonly client: Client;
  /** Opened, the agent completes its turn. */
  readonly gate: Gate;
  /** Turns that wait for the gate. */
  waiting: number;
}

async function siteOf(t: TestContext): Promise<Site> {
  const gate = createGate();
  const core = await createCore(t, {
    clock: createManualClock(),
    agent: async function* () {
      site.waiting += 1;
      await gate.opened;
      yield { state: 'TASK_STATE_COMPLETED', message: 'done' };
    },
  });
  const site: Site = { core, client: createClient(core), gate, waiting: 0 };
  return site;
}

/** Reads of a task by those who wait for it. */
function counted(store: TaskStore) {
  const seen = { reads: 0, states: 0 };
  const counting: TaskStore = {
    ...store,
    read: (...request) => {
      seen.reads += 1;
      return store.read(...request);
    },
    state: (...request) => {
      seen.states += 1;
      return store.state(...request);
    },
  };
  return { seen, store: counting };
}

/** The operations of the same process over another store. */
function over({ core }: Site, store: TaskStore): Core {
  const { vault, wakeups, clock } = core;
  const deps = { store, vault, wakeups, clock, ids: timeOrderedIds, digest: sha256, telemetry: silentTelemetry };
  return { ...core, operations: createOperations(deps) };
}

describe('a blocking send', () => {
  it('reads its task once, at the end', async (t) => {
    const site = await siteOf(t);
    const { seen, store } = counted(site.core.store);
    const answer = createClient(over(site, store)).send('hi');
    await until('the agent is at work', () => site.waiting === 1);
    assert.deepEqual(seen, { reads: 0, states: 0 });
    site.gate.open();
    assert.equal((await answer).status.state, 'TASK_STATE_COMPLETED');
    assert.deepEqual(seen, { reads: 1, states: 0 });
  });

  it('asks only for the state when it is woken together with everybody', async (t) => {
    const site = await siteOf(t);
    const { seen, store } = counted(site.core.store);
    const answer = createClient(over(site, store)).send('hi');
    await until('the agent is at work', () => site.waiting === 1);
    site.core.wakeups.notifyAll();
    await until('a look at the state', () => seen.states === 1);
    site.gate.open();
    assert.equal((await answer).status.state, 'TASK_STATE_COMPLETED');
    assert.deepEqual(seen, { reads: 1, states: 1 });
  });

  it('is not misled by a notice for a task that goes on', async (t) => {
    const site = await siteOf(t);
    const { seen, store } = counted(site.core.store);
    const answer = createClient(over(site, store)).send('hi', { messageId: 'm' });
    await until('the agent is at work', () => site.waiting === 1);
    const { id } = await site.client.start('hi', { messageId: 'm' });
    site.core.wakeups.notify(`stop:${id}`);
    await until('a read', () => seen.reads === 1);
    site.gate.open();
    assert.equal((await answer).status.state, 'TASK_STATE_COMPLETED');
    assert.equal(seen.reads, 2);
  });

  it('that repeats a finished one looks once', async (t) => {
    const site = await siteOf(t);
    site.gate.open();
    const { id } = await site.client.send('hi', { messageId: 'm' });
    const { seen, store } = counted(site.core.store);
    assert.equal((await createClient(over(site, store)).send('hi', { messageId: 'm' })).id, id);
    assert.deepEqual(seen, { reads: 1, states: 0 });
  });

  it('that repeats one in the very commit that ends it is answered', async (t) => {
    const site = await siteOf(t);
    await site.client.start('hi', { messageId: 'm' });
    await until('the agent is at work', () => site.waiting === 1);
    const repeats = [site.client.send('hi', { messageId: 'm' })];
    site.gate.open();
    // Each a little later than the one before, so that some are in the same group as the end, before and behind it.
    for (let n = 0; n < 20; n += 1) {
      await null;
      repeats.push(site.client.send('hi', { messageId: 'm' }));
    }
    for (const task of await Promise.all(repeats)) assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
  });

  it('whose task ends while the token that came along is renewed is answered', async (t) => {
    const site = await siteOf(t);
    const renewing = createGate();
    const store: TaskStore = {
      ...site.core.store,
      renewCredential: async (...request) => {
        await renewing.opened;
        return site.core.store.renewCredential(...request);
      },
    };
    const token = { token: 'token-value', expiresAt: site.core.clock.now() + 3_600_000 };
    const caller = site.core.caller('alice', { token });
    const answer = createClient(over(site, store), { caller }).send('hi', { messageId: 'm' });
    await until('the agent is at work', () => site.waiting === 1);
    site.gate.open();
    const { id } = await site.client.send('hi', { messageId: 'm' });
    renewing.open();
    assert.equal((await answer).id, id);
  });
});
