import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DomainError, isDomainError } from '../../core/errors.ts';
import type { Agent } from '../../core/ports/agent.ts';
import type { LogFields } from '../../core/ports/telemetry.ts';
import { createClient } from '../support/client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createCore } from '../support/service.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { advanceUntil, until } from '../support/until.ts';

const completing: Agent['run'] = async function* () {
  yield { state: 'TASK_STATE_COMPLETED' };
};
const parking: Agent['run'] = async function* () {
  yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'Well?' };
};

describe('the janitor', () => {
  it('purges tasks that ended long enough ago, with their message ids, and no other [13.4-retention]', async (t) => {
    const clock = createManualClock();
    const core = await createCore(t, { clock, agent: completing, retentionMs: 600_000 });
    const client = createClient(core);
    const old = await client.send('old', { messageId: 'm1' });
    clock.advance(550_000);
    const fresh = await client.send('fresh');
    await until('the old task is gone', async () => {
      clock.advance(1_000);
      return !(await core.store.record(client.caller.owner, old.id));
    });
    await assert.rejects(client.get(old.id), (error) => isDomainError(error, 'TASK_NOT_FOUND'));
    assert.deepEqual(await client.get(fresh.id), fresh);
    assert.notEqual((await client.send('old', { messageId: 'm1' })).id, old.id);
  });

  it('purges nothing that waits for an answer', async (t) => {
    const clock = createManualClock();
    const core = await createCore(t, { clock, agent: parking, retentionMs: 1_000, parkedMaxMs: 100_000_000 });
    const client = createClient(core);
    const { id } = await client.send('start');
    const canceled = await client.send('canceled');
    await client.cancel(canceled.id);
    await until('the canceled one is gone', async () => {
      clock.advance(10_000);
      return !(await core.store.record(client.caller.owner, canceled.id));
    });
    assert.equal((await client.get(id)).status.state, 'TASK_STATE_INPUT_REQUIRED');
  });

  it('erases what a removed tenant left behind', async (t) => {
    const clock = createManualClock();
    const core = await createCore(t, { clock, agent: completing });
    const [alice, other] = [
      createClient(core),
      createClient(core, { caller: core.caller('alice', { tenant: 'other' }) }),
    ];
    const { id } = await alice.send('hi');
    const kept = await other.send('hi');
    await core.tenants.remove('test');
    await advanceUntil(clock, 'it is erased', async () => (await core.tenants.removedWithData(10)).length === 0);
    assert.equal(await core.store.record(alice.caller.owner, id), undefined);
    assert.deepEqual(await other.get(kept.id), kept);
  });

  it('forgets tokens that have expired', async (t) => {
    const clock = createManualClock();
    const core = await createCore(t, { clock, agent: parking });
    const token = { token: 'short', expiresAt: clock.now() + 60_000 };
    const { owner } = core.caller('alice');
    await createClient(core, { caller: core.caller('alice', { token }) }).send('start');
    const credential = await core.store.credential(owner);
    assert.ok(credential);
    assert.equal(await core.vault.reveal(owner, credential), 'short');
    clock.advance(80_000);
    await advanceUntil(clock, 'the row is gone', async () => (await core.store.sweepCredentials()).size === 0);
    assert.equal(await core.vault.reveal(owner, credential), undefined);
  });

  it('one task that cannot be ended keeps no other from its deadline', async (t) => {
    const clock = createManualClock();
    const logged: { readonly name: string; readonly fields: LogFields | undefined }[] = [];
    const core = await createCore(t, {
      clock,
      agent: parking,
      parkedMaxMs: 10_000,
      telemetry: { ...silentTelemetry, event: (_level, name, fields) => logged.push({ name, fields }) },
    });
    const client = createClient(core);
    const { id: broken } = await client.send('first');
    const { id } = await client.send('second');
    const { update } = core.store;
    Object.assign(core.store, {
      update: (...args: Parameters<typeof update>) =>
        args[0].taskId === broken ? Promise.reject(new DomainError('INTERNAL', 'broken')) : update(...args),
    });
    await advanceUntil(clock, 'the deadline', async () => (await client.get(id)).status.state === 'TASK_STATE_FAILED');
    assert.ok(logged.some(({ name, fields }) => name === 'task.expiry_failed' && fields?.taskId === broken));
  });

  it('a duty that fails is tried again, and the others go on', async (t) => {
    const clock = createManualClock();
    let purges = 0;
    const core = await createCore(t, { clock, agent: parking, parkedMaxMs: 10_000 });
    Object.assign(core.store, {
      purge: () => {
        purges += 1;
        return Promise.reject(new DomainError('STORE_UNAVAILABLE', 'away'));
      },
    });
    const client = createClient(core);
    const { id } = await client.send('start');
    await until('two more purges', () => {
      clock.advance(1_000);
      return purges >= 2;
    });
    assert.equal((await client.get(id)).status.state, 'TASK_STATE_FAILED');
  });
});
