import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { type Caller, createCaller } from '../e2e/callers.ts';
import { startWorld, type World } from '../e2e/world.ts';
import { until } from '../support/until.ts';
import { type Ran, runOps } from './run-ops.ts';

/* Erasing beside a service that runs something of those who are erased. */

let world: World;
before(async () => {
  world = await startWorld({ agent: 'rerun' });
});
after(() => world.close());

function ops(...args: readonly string[]): Promise<Ran> {
  return runOps({ directory: world.directory, env: { DATABASE_URL: 'sqlite:./connector.db' } }, ...args);
}

async function caller(subject: string, tenant: string): Promise<Caller> {
  return createCaller(await world.a2a(subject, { tenant }), '/a2a');
}

/** Rows of the whole database in which the text stands, by table. */
function placesOf(text: string): readonly string[] {
  const db = new BetterSqlite3(join(world.directory, 'connector.db'), { readonly: true });
  try {
    const tables = db.prepare<[], string>("select name from sqlite_schema where type = 'table'").pluck().all();
    return tables.filter((table) =>
      db
        .prepare<[], Record<string, unknown>>(`select * from "${table}"`)
        .all()
        .some((row) => Object.values(row).some((value) => String(value).includes(text))),
    );
  } finally {
    db.close();
  }
}

test('ops erase: a person goes from the whole database with what runs for them; others stay [13.4-deletion]', async () => {
  const [zoe, zoeElsewhere, bob] = [
    await caller('zoe-4711', 't1'),
    await caller('zoe-4711', 't2'),
    await caller('bob', 't1'),
  ];
  const place = world.outside.place({ closed: true });
  const running = await zoe.start([`call ${place.name}`, 'complete Zoes secret.']);
  await place.reached();
  await zoeElsewhere.send(['complete Zoes secret.']);
  const { task } = await bob.send(['complete Bobs.']);
  assert.ok(placesOf('zoe-4711').length > 0);
  const { code, out, err } = await ops('erase', '--principal', 'zoe-4711', '--reason', 'account closed');
  assert.deepEqual([code, out], [0, '2 tasks erased\n'], err);
  await place.left();
  assert.deepEqual(placesOf('zoe-4711'), []);
  assert.deepEqual(placesOf('Zoes secret'), []);
  assert.equal((await zoe.client.get(running)).error?.code, -32001);
  assert.equal((await bob.client.get(String(task?.id))).task?.id, task?.id);
  const again = await ops('erase', '--principal', 'zoe-4711');
  assert.equal(again.code, 1);
  assert.match(again.err, /^nothing is stored of principal zoe-4711\n$/);
});

test('ops erase: in one tenant only', async () => {
  const [here, there] = [await caller('yan', 't1'), await caller('yan', 't2')];
  const kept = await here.send(['complete Kept.']);
  await there.send(['complete Gone.']);
  const { out } = await ops('tasks', 'list', '--principal', 'yan', '--json');
  const tenants = (JSON.parse(out) as readonly { tenant: string }[]).map(({ tenant }) => tenant);
  const [t2 = '', ...others] = tenants.filter((tenant) => tenant.endsWith(':t2'));
  assert.deepEqual(others, []);
  assert.equal((await ops('erase', '--principal', 'yan', '--tenant', t2)).out, '1 task erased\n');
  assert.equal((await here.client.get(String(kept.task?.id))).task?.id, kept.task?.id);
  const wrong = await ops('erase', '--principal', 'yan', '--tenant', t2);
  assert.equal(wrong.code, 1);
  assert.ok(wrong.err.includes(t2), wrong.err);
});

test('ops tenants erase: what runs stops, all of it goes but the mark that it is removed, and its callers are refused', async () => {
  const vic = await caller('vic-0815', 't3');
  const place = world.outside.place({ closed: true });
  await vic.start([`call ${place.name}`, 'complete Vics secret.']);
  await place.reached();
  const { out: listed } = await ops('tenants', 'list', '--json');
  const tenant = (JSON.parse(listed) as readonly { id: string }[]).find(({ id }) => id.endsWith(':t3'))?.id ?? '';
  const { code, out, err } = await ops('tenants', 'erase', tenant);
  assert.deepEqual([code, out], [0, 'removed, 1 task erased\n'], err);
  await place.left();
  assert.deepEqual([placesOf('vic-0815'), placesOf('Vics secret')], [[], []]);
  assert.deepEqual([...placesOf(tenant)].sort(), ['audit', 'tenant']);
  const logged = () =>
    world
      .service()
      .log()
      .filter(({ event, tenant: whose }) => event === 'authentication.refused' && whose === tenant);
  const refused = await vic.send(['complete Again.']);
  assert.ok(refused.error, refused.text);
  assert.match(refused.text, /"reason":"UNAUTHENTICATED"/);
  await until('the refusal is in the log', () => logged().length > 0);
  assert.deepEqual(
    logged().map(({ level, reason }) => [level, reason]),
    [['info', 'The caller is no longer known']],
  );
  for (const verb of ['pause', 'resume']) {
    const { code, err } = await ops('tenants', verb, tenant);
    assert.equal(code, 1, verb);
    assert.match(err, /is removed/);
  }
  assert.equal((await ops('tenants', 'restore', tenant)).code, 0);
  assert.equal((await vic.send(['complete Vic again.'])).task?.status?.state, 'TASK_STATE_COMPLETED');
  assert.equal((await ops('tenants', 'restore', tenant)).out, 'it is not removed\n');
});
