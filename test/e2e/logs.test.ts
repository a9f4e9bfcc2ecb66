import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BUSY_WORLD, playBusyDay } from './busy-day.ts';
import { startWorld, type World } from './world.ts';

let world: World;
before(async () => {
  world = await startWorld(BUSY_WORLD);
});
after(() => world.close());

test('logs: at debug level a busy day leaves no token and no word that people or the agent wrote [13.4-clean-logs, 13.4-little-logged]', async () => {
  const secrets = await playBusyDay(world);
  const output = world.output();
  for (const event of ['rovo.authenticated', 'rovo.refused', 'turn.failed', 'turn.lost', 'task.transition']) {
    assert.ok(output.includes(`"event":"${event}"`), `${event} is in the log`);
  }
  for (const secret of secrets) {
    const at = output.indexOf(secret);
    assert.equal(at, -1, `"${secret}" in …${output.slice(Math.max(0, at - 300), at + 300)}…`);
  }
  assert.doesNotMatch(output, /eyJ[\w-]{10,}\.[\w-]/, 'nothing that looks like a token');
  assert.doesNotMatch(output, /557057:/, 'no account id');
});
