import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { RpcAnswer } from '../../simulator/client/calls.ts';
import type { TokenOptions } from '../../simulator/forge/invocation-token.ts';
import { until } from '../support/until.ts';
import type { TokenChanges } from './issuer.ts';
import { script, startWorld, type World } from './world.ts';

let world: World;
before(async () => {
  world = await startWorld({ agent: 'rerun' });
});
after(() => world.close());

function assertRefused(answer: Pick<RpcAnswer, 'status' | 'headers' | 'text'>, realm: string): void {
  assert.equal(answer.status, 401);
  assert.match(String(answer.headers['www-authenticate']), new RegExp(`^Bearer realm="${realm}"`));
  assert.deepEqual(JSON.parse(answer.text), {
    jsonrpc: '2.0',
    id: null,
    error: { ...JSON.parse(answer.text).error, code: -32600 },
  });
}

const OTHER_APP = 'ari:cloud:ecosystem::app/99999999-2222-4333-8444-555555555555';
const FORGED: Readonly<Record<string, TokenOptions>> = {
  'without a signature (alg none)': { alg: 'none' },
  'signed with the public key as a secret (HS256)': { alg: 'HS256' },
  'signed with a published EC key (ES256)': { alg: 'ES256' },
  'of another issuer': { issuer: 'forge/other' },
  'for another app, by the right key': { audience: OTHER_APP },
  'of another app throughout': { audience: OTHER_APP, claims: { app: { id: OTHER_APP } } },
  'for no audience': { audience: '' },
  'that has expired': { ageMs: 120_000 },
  'from the future': { ageMs: -120_000 },
  'without an id': { omit: ['jti'] },
  'without a user': { omit: ['principal'] },
  'with an API base on another host': { claims: { app: { apiBaseUrl: 'https://api.evil.example/ex/jira/1' } } },
  'with an API base that only begins like the right one': {
    claims: { app: { apiBaseUrl: 'https://api.atlassian.com.evil.example/ex/jira/1' } },
  },
};

describe('invocation tokens', () => {
  for (const [name, invocationToken] of Object.entries(FORGED)) {
    test(`/rovo/a2a: a token ${name} answers 401 and does nothing`, async () => {
      const place = world.outside.place();
      const jira = world.jira();
      assertRefused(await jira.chat(`call ${place.name}\ncomplete`).sync({ invocationToken }), 'rovo');
      const honest = await jira.chat('complete').sync();
      assert.equal(honest.task?.status.state, 'TASK_STATE_COMPLETED');
      assert.equal(place.calls.length, 0, 'the agent did not run');
    });
  }

  test('/rovo/lifecycle, /rovo/pre-uninstall: a token for another app answers 401 and changes nothing', async () => {
    const jira = world.jira();
    const invocationToken = { audience: OTHER_APP };
    for (const result of [
      await jira.install({ invocationToken, retries: 0 }),
      await jira.uninstall({ invocationToken, retries: 0 }),
    ]) {
      assert.deepEqual([result.attempts.map(({ status }) => status), result.delivered], [[401], false]);
    }
    assert.equal((await jira.chat('complete').sync()).status, 200, 'the site is still served');
  });

  test('/rovo/a2a: no token answers 401 before the body, and nobody asks for keys', async () => {
    const before = world.atlassian.jwksRequests();
    assertRefused(await world.jira().rpc('SendMessage', {}, { authorization: null, body: 'no JSON' }), 'rovo');
    assert.equal(world.atlassian.jwksRequests(), before);
  });

  test('/rovo/a2a: 1,000 calls with made-up key ids cost at most one fetch of the keys, and honest ones go on', async () => {
    const { atlassian } = world;
    const jira = world.jira();
    const before = atlassian.jwksRequests();
    const stale = await atlassian.mint();
    const [, claims = '', signature = ''] = stale.split('.');
    const forge = (index: number) => {
      const header = Buffer.from(JSON.stringify({ alg: 'RS256', typ: 'JWT', kid: `made-up-${index}` }));
      return `Bearer ${header.toString('base64url')}.${claims}.${signature}`;
    };
    for (let sent = 0; sent < 1_000; sent += 50) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => jira.get('none', { authorization: forge(sent + index) })),
      );
      for (const { status } of answers) assert.equal(status, 401);
    }
    assert.ok(atlassian.jwksRequests() - before <= 1, `${atlassian.jwksRequests() - before} fetches`);
    assert.equal((await jira.get('none')).error?.code, -32001);
  });
});

describe('keys that cannot be had', () => {
  test('/rovo/a2a, /a2a: with the key host down an unknown key answers 503 and when to come again', async () => {
    const { atlassian, issuer } = world;
    atlassian.outage('refuse');
    issuer.jwks.outage('error');
    const service = await world.start({ DATABASE_URL: 'sqlite:./down.db' });
    const bob = await world.a2a('bob', { service });
    for (const client of [world.jira(service), bob]) {
      const answer = await client.get('none');
      assert.equal(answer.status, 503);
      assert.match(String(answer.headers['retry-after']), /^([1-9]|[12]\d|30)$/);
      assert.equal(JSON.parse(answer.text).error.code, -32603);
    }
    assert.ok((await world.jira(service).install({ retries: 0 })).attempts.every(({ status }) => status === 503));
    atlassian.outage('none');
    issuer.jwks.outage('none');
    service.signal('SIGTERM');
    assert.equal(await service.exited(), 0);
  });
});

const REFUSED_JWTS: Readonly<Record<string, TokenChanges>> = {
  'of another issuer': { issuer: 'https://other.example' },
  'for another audience': { audience: 'other' },
  'that has expired': { expiresIn: -60 },
  'from the future': { issuedIn: 120, expiresIn: 600 },
  'of an unknown key': { kid: 'nobody' },
  'without a tenant': { tenant: '' },
};

describe('tokens of the generic edge', () => {
  for (const [name, changes] of Object.entries(REFUSED_JWTS)) {
    test(`/a2a: a token ${name} answers 401 [3.3.2-unauthenticated]`, async () => {
      const alice = await world.a2a('alice', changes);
      assertRefused(await alice.rpc('SendMessage', script(['complete'])), 'a2a');
    });
  }

  test('/a2a: who was not let in is in the log, with the reason that nobody else hears [13.4-failures-logged, 13.4-events-logged]', async () => {
    const { output } = world.service();
    const alice = await world.a2a('alice', { audience: 'other' });
    const { text } = await alice.get('none', {
      authorization: `Bearer ${await world.issuer.token('alice', { audience: 'other' })}`,
    });
    assert.doesNotMatch(text, /aud|other/);
    const line = await until('it is in the log', () =>
      output()
        .split('\n')
        .find((each) => each.includes('"authentication.refused"') && each.includes('the token is')),
    );
    const { level, edge, code, reason } = JSON.parse(line);
    assert.deepEqual([level, edge, code], ['info', 'a2a', 'UNAUTHENTICATED']);
    assert.match(reason, /"aud" of the token is "other", the configuration wants "connector"$/);
    await world.jira().get('none', { authorization: 'Bearer nothing' });
    await until('Rovo’s is, too', () => output().includes('"rovo.refused"'));
    assert.doesNotMatch(output(), /"authentication\.refused"[^\n]*"rovo"/, 'once each');
  });

  test('/a2a: a token without a signature and one of the other edge answer 401', async () => {
    const alice = await world.a2a('alice');
    const [, claims = ''] = (await world.issuer.token('alice')).split('.');
    const header = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    for (const token of [`${header}.${claims}.`, await world.atlassian.mint()]) {
      assertRefused(await alice.get('none', { authorization: `Bearer ${token}` }), 'a2a');
    }
    const jira = world.jira();
    assertRefused(await jira.get('none', { authorization: `Bearer ${await world.issuer.token('alice')}` }), 'rovo');
  });
});
