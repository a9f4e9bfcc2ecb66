import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openSqliteFacts } from '../../adapters/sqlite/facts.ts';
import { verify } from '../../core/verify/verify.ts';
import { createClient } from '../support/client.ts';
import { livedInDatabase } from './lived-in.ts';
import { told, verifyFile } from './verify-file.ts';

describe('verify: databases made by normal use', () => {
  it('finds nothing beside the running service, and nothing after it', async (t) => {
    const { path, clock, core, copy } = await livedInDatabase(t);
    const beside = await verifyFile(path, clock.now());
    assert.deepEqual(told(beside), []);
    assert.equal(beside.counts.tasks, 14);
    assert.equal(
      beside.counts.messages,
      beside.counts.executions + 1,
      'the question of the agent is the one without a turn',
    );
    assert.deepEqual(await verifyFile(copy(), clock.now()), beside);
    await core.stop();
    assert.deepEqual(await verifyFile(path, clock.now()), beside);
  });

  it('sees one state of a database that is written to meanwhile', async (t) => {
    const { path, clock, core, taskIds } = await livedInDatabase(t);
    const before = await verifyFile(path, clock.now());
    const facts = openSqliteFacts({ path, now: clock.now() });
    await createClient(core).cancel(taskIds.running);
    await createClient(core).start('one more');
    const counts = await verify(facts, { staleAfterMs: 0 }, () => assert.fail('nothing is wrong'));
    facts.close();
    assert.deepEqual(counts, before.counts);
    assert.equal((await verifyFile(path, clock.now())).counts.tasks, before.counts.tasks + 1);
  });

  it('what is overdue is found after its grace, and not at all of a service that is stopped', async (t) => {
    const { path, clock, core, taskIds } = await livedInDatabase(t);
    await core.stop();
    const later = clock.now() + 3_600_000 + 900_000;
    const late = told(await verifyFile(path, later)).map((line) => line.split(':')[0]);
    assert.deepEqual(
      [...new Set(late)].sort(),
      [
        `overdue ${taskIds.asking}`,
        `overdue ${taskIds.held}`,
        `overdue ${taskIds.owned}`,
        `overdue ${taskIds.parked}`,
        `overdue ${taskIds.running}`,
        `overdue ${taskIds.retried}`,
        `stale-lease ${taskIds.owned}`,
        `stale-lease ${taskIds.retried}`,
        `stale-lease ${taskIds.running}`,
      ].sort(),
    );
    assert.deepEqual(told(await verifyFile(path, later, Number.POSITIVE_INFINITY)), []);
  });
});
