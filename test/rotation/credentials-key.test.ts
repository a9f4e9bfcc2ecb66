import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import type { JiraClient } from '../../simulator/client/jira-client.ts';
import { startWorld, type World } from '../e2e/world.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { type Load, startLoad } from './load.ts';

const [OLD, NEW] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const NO_TOKEN = { userToken: 'none' } as const;

let world: World;
let service: ServiceProcess;
before(async () => {
  world = await startWorld({
    agent: 'rerun',
    settings: { CREDENTIALS_KEY: OLD, DRAIN_MS: '4500', LEASE_MS: '2000', ROVO_WAIT_MS: '100', AGENT_CONCURRENCY: '3' },
  });
  service = world.service();
});
after(() => world.close());

/** Whichever process there is now. */
const jira = (): JiraClient => world.jira(service);

async function restart(keys: string): Promise<void> {
  service.signal('SIGTERM');
  assert.equal(await service.exited(), 0);
  service = await world.start({ CREDENTIALS_KEY: keys });
}

async function start(lines: readonly string[], options: Parameters<JiraClient['chat']>[1]): Promise<string> {
  const { task, text } = await jira().chat(lines.join('\n'), options).sync();
  assert.ok(task, text);
  return task.id;
}

/** Polls that bring no token: what the agent reads with can only be what was stored. */
function pollWithoutToken(t: TestContext, as: string, ids: readonly string[]): readonly Load[] {
  return ids.map((id) => startLoad(t, () => jira().get(id, { as, ...NO_TOKEN })));
}

async function stopAll(loads: readonly Load[]): Promise<void> {
  await Promise.all(loads.map((load) => load.stop()));
  for (const { faults, states, answered } of loads) {
    assert.deepEqual(faults, []);
    assert.ok(answered > 0);
    assert.ok(!states.has('TASK_STATE_FAILED'));
  }
}

async function inState(id: string, as: string, state: string) {
  return until(`${id} is ${state}`, async () => {
    const { task } = await jira().get(id, { as, ...NO_TOKEN });
    return task?.status.state === state && task;
  });
}

/** By account: which key sealed the token that is stored. */
function sealedWith(): ReadonlyMap<string, string> {
  const database = new Database(join(world.directory, 'connector.db'), { readonly: true });
  try {
    const rows = database.prepare('select principal, sealed from credential').all();
    return new Map(
      (rows as { principal: string; sealed: string }[]).map(({ principal, sealed }) => {
        const [header = ''] = sealed.split('.');
        const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString('utf8')) as { kid: string };
        return [principal, kid];
      }),
    );
  } finally {
    database.close();
  }
}

const sealedFor = (person: string) => sealedWith().get(world.atlassian.site.records.person(person).accountId);

test('CREDENTIALS_KEY: a new key goes in front while tasks run, wait and are parked, and none of them notices [13.4-rotated]', async (t) => {
  const door = world.outside.place({ closed: true });
  const reading = [`call ${door.name}`, 'read SHOP-1', 'complete Read.'];
  // More than run at a time: the others wait in the queue over the restart.
  const ids = await Promise.all(Array.from({ length: 6 }, () => start(reading, { as: 'alice' })));
  const parked = await start(['read SHOP-1', 'complete Read.'], { as: 'bob', ...NO_TOKEN });
  await door.reached(3);
  const loads = [...pollWithoutToken(t, 'alice', ids), ...pollWithoutToken(t, 'bob', [parked])];
  const old = sealedFor('alice');

  await restart(`${NEW},${OLD}`);
  await door.reached(6);
  assert.equal(sealedFor('alice'), old, 'nothing was sealed anew');
  door.open();
  for (const id of ids) await inState(id, 'alice', 'TASK_STATE_COMPLETED');

  // Parked before the new key came; what wakes it is sealed with the new one.
  await inState(parked, 'bob', 'TASK_STATE_AUTH_REQUIRED');
  await jira().get(parked, { as: 'bob', userToken: 'fresh' });
  await inState(parked, 'bob', 'TASK_STATE_COMPLETED');
  await stopAll(loads);
});

test('CREDENTIALS_KEY: the old key goes when its tokens have expired, and what the new one sealed is still read', async (t) => {
  await restart(OLD);
  const door = world.outside.place({ closed: true });
  const reading = [`call ${door.name}`, 'read SHOP-1', 'complete Read.'];
  const short = world.atlassian.site.newToken('alice', { lifeMs: 2_000 });
  const ofOld = await start(reading, { as: 'alice', userToken: { token: short } });
  await door.reached();
  const old = sealedFor('alice');

  await restart(`${NEW},${OLD}`);
  const ofNew = await start(reading, { as: 'bob' });
  await door.reached(3);
  assert.ok(old !== undefined && sealedFor('bob') !== undefined);
  assert.notEqual(sealedFor('bob'), old, 'the first key seals');
  const loads = [...pollWithoutToken(t, 'alice', [ofOld]), ...pollWithoutToken(t, 'bob', [ofNew])];
  await until('the token that the old key sealed has expired', () => {
    return world.atlassian.site.tokens.look(short).state === 'expired';
  });

  await restart(NEW);
  await door.reached(5);
  door.open();
  await inState(ofNew, 'bob', 'TASK_STATE_COMPLETED');
  // As it would be without any rotation: the token is over, the next call brings another.
  await inState(ofOld, 'alice', 'TASK_STATE_AUTH_REQUIRED');
  await jira().get(ofOld, { as: 'alice', userToken: 'fresh' });
  await inState(ofOld, 'alice', 'TASK_STATE_COMPLETED');
  await stopAll(loads);
});

test('CREDENTIALS_KEY: a leaked key is replaced alone: tasks wait for a token and go on with the next call', async (t) => {
  const door = world.outside.place({ closed: true });
  const id = await start([`call ${door.name}`, 'read SHOP-1', 'complete Read.'], { as: 'alice' });
  await door.reached();
  const loads = pollWithoutToken(t, 'alice', [id]);
  await restart(OLD);
  await door.reached(2);
  door.open();
  await inState(id, 'alice', 'TASK_STATE_AUTH_REQUIRED');
  await jira().get(id, { as: 'alice', userToken: 'fresh' });
  await inState(id, 'alice', 'TASK_STATE_COMPLETED');
  await stopAll(loads);
});
