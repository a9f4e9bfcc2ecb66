import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { statusText } from '../../simulator/client/a2a.ts';
import type { RpcAnswer } from '../../simulator/client/calls.ts';
import { LANTERN } from '../../simulator/site/lantern.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

let world: World;
before(async () => {
  world = await startWorld({
    agent: 'rerun',
    settings: { CREDENTIALS_KEY: randomBytes(32).toString('base64') },
  });
});
after(() => world.close());

let sites = 0;
/** A site of its own for each test: removing the app from it disturbs nobody. */
function openSite() {
  sites += 1;
  const site = world.atlassian.openSite(`lifecycle-${sites}`, LANTERN);
  const url = `${world.service().origin}/rovo/a2a`;
  const client = world.atlassian.client({ url, site: site.name, invocationToken: { includeSiteUrl: true } });
  return { site, client };
}

async function ended(read: () => Promise<RpcAnswer>) {
  return until('the task has ended', async () => {
    const { task } = await read();
    return task !== undefined && /COMPLETED|FAILED/.test(task.status.state) && task;
  });
}

describe('lifecycle', () => {
  test('an installed event that comes five times, and an upgrade of an unknown site, are answered at once and leave one site', async () => {
    const { client } = openSite();
    const upgraded = await client.upgrade({ retries: 0 });
    const installed = await Promise.all(Array.from({ length: 5 }, () => client.install({ retries: 0 })));
    for (const { attempts } of [upgraded, ...installed]) {
      assert.deepEqual(
        attempts.map(({ status }) => status),
        [200],
      );
      assert.ok(attempts.every(({ elapsedMs }) => elapsedMs < 5_000));
    }
    assert.equal((await client.chat('complete').sync()).task?.status.state, 'TASK_STATE_COMPLETED');
  });

  test('a site that was never heard of is served: a lost installed event locks nobody out', async () => {
    const { client } = openSite();
    assert.equal((await client.chat('complete').sync()).task?.status.state, 'TASK_STATE_COMPLETED');
  });

  test('uninstall: running work is stopped, every call is refused, a late installed event changes nothing [13.4-revoked]', async () => {
    const { client } = openSite();
    const place = world.outside.place({ closed: true });
    const streaming = client.chat(`call ${place.name}\ncomplete Too late.`).stream({ limitMs: 20_000 });
    const { taskId } = await place.reached();
    const removed = await client.uninstall();
    assert.deepEqual(
      removed.attempts.map(({ status }) => status),
      [200],
    );
    await place.left();
    const stream = await streaming;
    assert.deepEqual([stream.faults, stream.end], [[], 'agent'], 'its stream ends by itself');
    const late = await client.install({ retries: 0 });
    assert.deepEqual(
      late.attempts.map(({ status }) => status),
      [200],
    );
    for (const answer of [await client.get(taskId), await client.chat('complete').sync()]) {
      assert.equal(answer.status, 401);
    }
    const again = await client.uninstall();
    assert.equal(again.delivered, true, 'a second last word is answered like the first');
  });

  test('reinstall: a new installation of the same site starts empty, what the old one had is nobody’s', async () => {
    const { site, client } = openSite();
    const { task } = await client.chat('complete Old words.').sync();
    await client.uninstall();
    site.reinstall();
    assert.equal((await client.install({ retries: 0 })).delivered, true);
    assert.equal((await client.get(String(task?.id))).error?.code, -32001);
    const { contextId = '' } = task ?? {};
    const anew = await client.chat('earlier', { contextId }).sync();
    assert.equal(statusText(anew.task), 'before: ');
  });

  test('one site leaves, another one stays: only the first is refused', async () => {
    const [leaving, staying] = [openSite().client, openSite().client];
    const { task } = await staying.chat('complete Here.').sync();
    await leaving.chat('complete').sync();
    await leaving.uninstall();
    assert.equal((await leaving.chat('complete').sync()).status, 401);
    assert.equal(statusText((await staying.get(String(task?.id))).task), 'Here.');
  });
});

describe('the user’s token', () => {
  test('one that expires while the agent works ends in AUTH_REQUIRED, and a poll with a fresh one lets it go on [7.6.1-out-of-band]', async () => {
    const { site, client } = openSite();
    const place = world.outside.place({ closed: true });
    const token = site.newToken('alice');
    const chat = client.chat(`call ${place.name}\nread SHOP-1\ncomplete Read.`, { userToken: { token } });
    const starting = chat.sync();
    const { taskId } = await place.reached();
    site.tokens.revoke(token);
    place.open();
    await starting;
    const same = { userToken: { token } } as const;
    const parked = await until('authorization is asked for', async () => {
      const { task } = await client.get(taskId, same);
      return task?.status.state === 'TASK_STATE_AUTH_REQUIRED' && task;
    });
    assert.ok(
      statusText(parked).includes(`${site.siteUrl}/jira/settings/personal/apps/`),
      'people are told where to go',
    );
    const still = await client.get(taskId, same);
    assert.equal(still.task?.status.state, 'TASK_STATE_AUTH_REQUIRED', 'the token that was refused does not do');
    const done = await ended(() => client.get(taskId, { userToken: 'fresh' }));
    assert.equal(done.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(place.calls.length, 2, 'the turn started over');
  });

  test('without one the agent asks for it at its first look at Jira, and nothing is ever read as anybody else', async () => {
    const { site, client } = openSite();
    const sent = await client.chat('say Hello.\nread SHOP-1\ncomplete Read.', { userToken: 'none' }).sync();
    assert.equal(sent.task?.status.state, 'TASK_STATE_AUTH_REQUIRED');
    assert.deepEqual(site.requests(), [], 'Jira was not asked without a token');
    const bob = await client.get(String(sent.task?.id), { as: 'bob', userToken: 'fresh' });
    assert.equal(bob.error?.code, -32001);
    assert.deepEqual(site.requests(), [], 'a token of somebody else wakes nothing');
    const done = await ended(() => client.get(String(sent.task?.id), { userToken: 'fresh' }));
    assert.equal(done.status.state, 'TASK_STATE_COMPLETED');
    assert.deepEqual(new Set(site.requests().map(({ as }) => as)), new Set(['alice']));
  });

  test('Jira is asked below the API base of the verified token, at the caller’s own site, as the caller', async () => {
    const { site, client } = openSite();
    const other = openSite().site;
    const token = site.newToken('alice');
    await client.chat('read SHOP-1\ncomplete Read.', { userToken: { token } }).sync();
    const asked = site.requests();
    assert.ok(asked.length > 0);
    for (const { token: used, path, cloudId } of asked) {
      assert.deepEqual([used, cloudId], [token, site.cloudId]);
      assert.match(path, /^\/rest\/api\/3\//);
    }
    assert.deepEqual(other.requests(), []);
  });

  test('it is in no answer, in no log and in no file of the database [13.4-secrets]', async () => {
    const { site, client } = openSite();
    const token = site.newToken('alice');
    const place = world.outside.place({ closed: true });
    const chat = client.chat(`read SHOP-1\ncall ${place.name}\ncomplete Read.`, { userToken: { token } });
    const streaming = chat.stream({ limitMs: 20_000 });
    await place.reached();
    // The task is alive, so its user's token is kept now.
    const secret = token.split('.').at(-1) ?? token;
    for (const file of ['connector.db', 'connector.db-wal']) {
      assert.equal(readFileSync(join(world.directory, file)).includes(secret), false, file);
    }
    place.open();
    const stream = await streaming;
    const { text } = await client.get(String(stream.task?.id), { userToken: { token } });
    assert.equal(stream.task?.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(`${JSON.stringify(stream.frames)}${text}${world.service().output()}`.includes(secret), false);
  });
});
