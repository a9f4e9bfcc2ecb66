import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { script } from '../e2e/world.ts';
import { holdLock } from '../support/hold-lock.ts';
import { until } from '../support/until.ts';
import { injectErrors, smallDisk, withoutMounts, withoutStrace } from './disk-faults.ts';
import { expectGreen, expectRed, expectRefused } from './outage.ts';
import { createPersistentClient, startPlainClients } from './persistent-client.ts';
import { createStage, POLICIES } from './stage.ts';

/* A process that ends, by a signal or in order, while its database cannot be written. */

let clients: Awaited<ReturnType<typeof startPlainClients>>;
before(async () => {
  clients = await startPlainClients();
});
after(() => clients.close());

const SETTINGS = { OPS_TOKEN: 'operator', DRAIN_MS: '3000' };
const MESSAGE = script(['complete Done.']);

describe('a process that ends while its database cannot be written', { concurrency: 3 }, () => {
  test('disk: killed after a flush that failed: what was refused is there after all, and sent again it is one task with one run', {
    skip: withoutStrace,
  }, async (t) => {
    const stage = createStage(t, 'review');
    const first = await stage.start(SETTINGS);
    await injectErrors(t, first.pid, { calls: 'fsync,fdatasync', errno: 'EIO' });
    await expectRefused(clients.at(first), MESSAGE);
    first.signal('SIGKILL');
    assert.equal(await first.exited(), 'SIGKILL');
    assert.deepEqual(stage.states(), ['SUBMITTED'], 'its commit was whole in the log, only not flushed');
    await stage.expectClean({ stopped: true });

    const second = await stage.start(SETTINGS);
    const client = clients.at(second);
    const { task, text } = await client.rpc('SendMessage', MESSAGE);
    assert.equal(task?.status.state, 'TASK_STATE_COMPLETED', text);
    assert.equal(stage.states().length, 1, 'decided by reading again');
    assert.equal(stage.counted().runs, 1);
    await stage.expectClean();
  });

  for (const policy of POLICIES) {
    test(`disk: killed while no room is left, ${policy} agent: started again it serves what it can read, and all ends when there is room`, {
      skip: withoutMounts,
    }, async (t) => {
      const disk = smallDisk(t);
      const stage = createStage(t, policy, { DATABASE_URL: `sqlite:${disk.folder}/connector.db` });
      const first = await stage.start(SETTINGS);
      const client = createPersistentClient({ at: clients.at, lines: ['say Started.', 'hang-once', 'complete Done.'] });
      const streaming = client.begin(first);
      await until('its agent runs', () => stage.states()[0] === 'WORKING');
      // The client may not have heard of it when its connection breaks.
      const [{ id: taskId } = { id: '' }] = stage.query<{ id: string }>('select id from task');
      const trouble = await disk.fill();
      await expectRed(first, 'full');
      first.signal('SIGKILL');
      assert.equal(await first.exited(), 'SIGKILL');
      await streaming;
      await stage.expectClean({ stopped: true });

      const second = await stage.start(SETTINGS);
      await expectRed(second, 'full');
      await expectRefused(clients.at(second), MESSAGE);
      const read = await clients.at(second).get(taskId);
      assert.equal(read.task?.status.state, 'TASK_STATE_WORKING', read.text);
      await trouble.mend();
      await expectGreen(second);
      const expected = policy === 'rerun' ? { state: 'COMPLETED', runs: 2 } : { state: 'FAILED', runs: 1 };
      await until('the lost turn has ended', () => stage.states()[0] === expected.state);
      assert.equal(stage.counted(taskId).runs, expected.runs);
      assert.equal((await clients.at(second).rpc('SendMessage', MESSAGE)).task?.status.state, 'TASK_STATE_COMPLETED');
      await stage.expectClean();
    });
  }

  test('disk: SIGTERM while another process holds the lock: it ends in time and in order, and the next start goes on', async (t) => {
    const stage = createStage(t, 'rerun');
    const first = await stage.start(SETTINGS);
    const client = createPersistentClient({ at: clients.at, lines: ['say Started.', 'watched', 'complete Done.'] });
    const streaming = client.begin(first);
    await until('its agent runs', () => stage.states()[0] === 'WORKING');
    const lock = await holdLock(t, stage.path);
    stage.watched();
    first.signal('SIGTERM');
    assert.equal(await first.exited(), 0, first.output());
    await streaming;
    await stage.expectClean({ stopped: true });
    assert.deepEqual(stage.states(), ['WORKING'], 'it could not be given back');
    const starting = stage.start(SETTINGS);
    await lock.mend();
    await starting;
    await until('the turn has ended', () => stage.states()[0] === 'COMPLETED');
    await stage.expectClean();
  });
});
