import assert from 'node:assert/strict';
import { test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { isDomainError } from '../../../core/errors.ts';
import { createClient } from '../../support/client.ts';
import { createCore } from '../../support/service.ts';
import { createArena, createGatedAgent, jitter, RACES, race, TIMEOUT_MS } from './arena.ts';

test(`the removal of a tenant against a message of it, ${RACES} times: accepted or refused, and in the end nothing is left`, {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const agent = createGatedAgent(async function* (_, text) {
    yield { artifact: { artifactId: 'log', parts: [{ text }] } };
    yield { state: 'TASK_STATE_COMPLETED', message: text };
  });
  const arena = await createArena(t, { agent: agent.run });
  const { core } = arena;
  const other = await createCore(t, { agent: agent.run, path: core.path, idle: true });
  await race(t, ['accepted', 'refused'], async (round) => {
    const tenant = `tenant-${round}`;
    await core.tenants.put(tenant, {});
    const client = createClient(core, { caller: core.caller('alice', { tenant, token: { token: tenant } }) });
    const [sending] = await Promise.allSettled([
      jitter().then(() => client.start(`race-${round}`)),
      jitter(6).then(() => other.tenants.remove(tenant)),
    ]);
    assert.equal((await core.tenants.get(tenant))?.status, 'removed');
    const again = client.start('once more');
    await assert.rejects(again, (error) => isDomainError(error, 'UNAUTHENTICATED'));
    if (sending.status === 'fulfilled') return 'accepted';
    // A task may also be gone before it could be shown.
    const { reason } = sending;
    assert.ok(isDomainError(reason, 'UNAUTHENTICATED') || isDomainError(reason, 'TASK_NOT_FOUND'), String(reason));
    return 'refused';
  });
  // The janitor does the same, a hundred tenants every two seconds.
  for (const tenant of await core.tenants.removedWithData(RACES)) {
    while ((await core.tenants.erase(tenant, 100)) > 0);
  }
  const db = new BetterSqlite3(core.path, { readonly: true });
  for (const table of ['owner', 'context', 'task', 'request', 'event', 'execution', 'credential']) {
    assert.deepEqual(db.prepare(`select count(*) as rows from ${table}`).get(), { rows: 0 }, table);
  }
  db.close();
  await arena.expectClean();
});
