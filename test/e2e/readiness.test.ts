import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runChecks } from '../../simulator/checks/run-checks.ts';
import { formatTable } from '../../simulator/checks/table.ts';
import { startWorld, type World } from './world.ts';

/** 900 s become 3, 55 s and 60 min the shortest that a scaled deadline gets, or 12 s. */
const TIME_SCALE = 300;

let world: World;
before(async () => {
  world = await startWorld({
    agent: 'brief',
    timeScale: TIME_SCALE,
    // The service's side of the same clocks, each a little before Jira's as in real life.
    settings: { ROVO_WAIT_MS: '300', ROVO_SYNC_DEADLINE_MS: '600', ROVO_STREAM_DEADLINE_MS: '2500' },
  });
});
after(() => world.close());

test('readiness table: the shipped service with its own agent keeps every rule of Jira', async () => {
  const { atlassian } = world;
  const rows = await runChecks({ atlassian, url: `${world.service().origin}/rovo/a2a`, quick: true });
  const others = rows.filter(({ status }) => status !== 'pass');
  assert.ok(rows.length > 50, `${rows.length} rules`);
  assert.deepEqual(others, [], formatTable(rows));
});
