import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CallOptions } from '../../simulator/client/calls.ts';
import type { JiraClient } from '../../simulator/client/jira-client.ts';
import type { TokenOptions } from '../../simulator/forge/invocation-token.ts';
import { startWorld, type World } from '../e2e/world.ts';
import { until } from '../support/until.ts';
import { MOVABLE_TIME, type ServiceTime, serviceTime } from './jumps.ts';
import { type Load, startLoad } from './load.ts';

let world: World;
let time: ServiceTime;
let jira: JiraClient;
before(async () => {
  // Leases are longer than the time that is skipped, or the turns would count as lost.
  const settings = { LEASE_MS: '600000', ROVO_WAIT_MS: '100' };
  world = await startWorld({ agent: 'rerun', settings, preload: [MOVABLE_TIME] });
  time = serviceTime(world.service());
  jira = world.jira();
});
after(() => world.close());

/** A call whose token is minted at the service's time. */
function signed(signWith: string, changes: TokenOptions = {}): CallOptions {
  return { invocationToken: { signWith, ageMs: -time.aheadMs, ...changes } };
}

async function authorization(signWith: string): Promise<string> {
  // Lives long enough to be judged by its key after the jumps, and not by its age.
  return `Bearer ${await world.atlassian.mint({ signWith, ageMs: -time.aheadMs, lifeMs: 120_000 })}`;
}

test('key set: keys are published, taken away and out of reach while tasks run, stream and are polled: nothing fails', async (t) => {
  const { keyRing } = world.atlassian;
  const first = keyRing.current().kid;
  let signer = first;
  const door = world.outside.place({ closed: true });
  const lines = ['artifact a plain 100', `call ${door.name}`, 'complete Done.'].join('\n');
  const sent = await Promise.all(Array.from({ length: 4 }, () => jira.chat(lines).sync(signed(signer))));
  const ids = sent.map(({ task }) => String(task?.id));
  const stream = jira.chat(lines).stream({ ...signed(signer), limitMs: 60_000 });
  await door.reached(5);
  const loads: readonly Load[] = [
    ...ids.map((id) => startLoad(t, () => jira.get(id, signed(signer)))),
    startLoad(t, () => jira.chat('complete At once.').sync(signed(signer))),
  ];
  const status = async (options: CallOptions) => (await jira.get(String(ids[0]), options)).status;

  const arrived = async () => void (await Promise.all(loads.map((load) => load.arrived())));

  // A key is published before it signs.
  const second = (await keyRing.add()).kid;
  await time.passCooldown(arrived);
  assert.equal(await status(signed(second)), 200);
  signer = second;

  // The next one signs, and the first is gone as soon as the service has looked again.
  const [kept, gone] = [await authorization(second), await authorization(first)];
  const third = (await keyRing.rotate()).kid;
  keyRing.remove(first);
  assert.equal(await status({ authorization: gone }), 200, 'nobody has looked yet');
  await time.passCooldown(arrived);
  assert.equal(await status(signed(third)), 200);
  assert.deepEqual([await status({ authorization: kept }), await status({ authorization: gone })], [200, 401]);
  signer = third;

  // Nobody can be asked: known keys go on, a new one has to wait and is told so.
  world.atlassian.outage('refuse');
  const fourth = (await keyRing.rotate()).kid;
  await time.passCooldown(arrived);
  const waiting = await jira.get(String(ids[0]), signed(fourth));
  assert.equal(waiting.status, 503);
  assert.ok(Number(waiting.headers['retry-after']) >= 1);
  assert.equal(await status(signed(third)), 200);
  world.atlassian.outage('none');
  await time.passCooldown(arrived);
  assert.equal(await status(signed(fourth)), 200);
  signer = fourth;

  door.open();
  const { task } = await jira.poll(String(ids[0]), { ...signed(signer), intervalMs: 50 });
  assert.equal(task?.status.state, 'TASK_STATE_COMPLETED');
  for (const id of ids) {
    const settled = await jira.poll(id, { ...signed(signer), intervalMs: 50 });
    assert.equal(settled.task?.status.state, 'TASK_STATE_COMPLETED');
  }
  assert.equal((await stream).task?.status.state, 'TASK_STATE_COMPLETED');
  await until('each call was answered often', () => loads.every(({ answered }) => answered > 10));
  await Promise.all(loads.map((load) => load.stop()));
  for (const { faults, missed } of loads) assert.deepEqual([faults, missed], [[], 0]);
  // Once at the start, and once for each of the four keys that were not known: the last one twice.
  assert.ok(world.atlassian.jwksRequests() <= 5, `${world.atlassian.jwksRequests()} fetches`);
});
