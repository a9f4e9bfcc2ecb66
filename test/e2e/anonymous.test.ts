import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { legacyMessage, type PlainAnswer, plainCall } from './plain-calls.ts';
import { script, startWorld, type World } from './world.ts';

let world: World;
before(async () => {
  world = await startWorld({ agent: 'rerun', settings: { A2A_AUTH: 'anonymous' } });
});
after(() => world.close());

const call = (method: string, params: unknown, headers: Record<string, string> = {}): Promise<PlainAnswer> =>
  plainCall(`${world.service().origin}/a2a`, { method, params, headers: { 'a2a-version': '1.0', ...headers } });

const BEHIND_TLS = {
  PUBLIC_URL: 'https://agent.example/base',
  DATABASE_URL: 'sqlite:./public.db',
  A2A_CARD_SIGNING_KEY: JSON.stringify(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })),
};

const TUNNELS: readonly Readonly<Record<string, string>>[] = [
  { forwarded: 'for=203.0.113.7' },
  { 'x-forwarded-for': '203.0.113.7' },
  { 'x-forwarded-host': 'agent.example' },
  { 'x-forwarded-proto': 'https' },
  { 'cf-connecting-ip': '203.0.113.7' },
  { host: 'agent.example' },
  { host: 'localhost.agent.example' },
];
for (const headers of TUNNELS) {
  test(`/a2a anonymous: a request with ${JSON.stringify(headers)} answers 403 and does nothing`, async () => {
    const place = world.outside.place();
    const refused = await call('SendMessage', script([`call ${place.name}`, 'complete']), headers);
    assert.equal(refused.status, 403);
    assert.equal(refused.json?.error?.code, -32600);
    assert.equal(refused.json?.id, null);
    const listed = await call('ListTasks', {});
    assert.equal(listed.status, 200, 'from this machine it is answered');
    assert.equal(place.calls.length, 0);
    assert.doesNotMatch(listed.text, new RegExp(place.name));
  });
}

test('agent card: Host and forwarding headers of a request change nothing in it, and a known tag gets 304', async () => {
  const { origin } = world.service();
  const card = (headers: Record<string, string>) =>
    new Promise<{ status: number; etag: string; text: string }>((resolve, reject) => {
      const sent = request(`${origin}/.well-known/agent-card.json`, { headers }, async (response) => {
        let text = '';
        for await (const chunk of response) text += String(chunk);
        resolve({ status: response.statusCode ?? 0, etag: String(response.headers.etag), text });
      });
      sent.on('error', reject).end();
    });
  const plain = await card({});
  const strange = await card({
    host: 'evil.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.example',
  });
  assert.deepEqual(strange, plain);
  const { supportedInterfaces } = JSON.parse(plain.text) as { supportedInterfaces: readonly { url: string }[] };
  for (const { url } of supportedInterfaces) assert.match(url.replace(origin, ''), /^\/a2a(\/v1)?$/);
  const fresh = await card({ 'if-none-match': plain.etag });
  assert.deepEqual([fresh.status, fresh.text], [304, '']);
});

test('agent card: behind TLS it names PUBLIC_URL and nothing that the process listens on [8.4.3-secure-keys, 14.3-no-secrets]', async () => {
  const service = await world.start({ ...world.issuer.env, ...BEHIND_TLS });
  const text = await (await fetch(`${service.origin}/.well-known/agent-card.json`)).text();
  const { supportedInterfaces, signatures } = JSON.parse(text) as {
    supportedInterfaces: readonly { url: string }[];
    signatures: readonly { protected: string }[];
  };
  for (const { url } of supportedInterfaces) assert.match(url, /^https:\/\/agent\.example\/base\/a2a(\/v1)?$/);
  assert.doesNotMatch(text, /127\.0\.0\.1|http:/);
  const header = JSON.parse(Buffer.from(signatures[0]?.protected ?? '', 'base64url').toString());
  assert.equal(header.jku, 'https://agent.example/base/.well-known/jwks.json');
});

test('Strict-Transport-Security: every answer has it where callers come over TLS, none where they do not [13.4-hsts]', async () => {
  const behind = await world.start({ ...world.issuer.env, ...BEHIND_TLS, DATABASE_URL: 'sqlite:./strict.db' });
  const authorization = `Bearer ${await world.issuer.token('alice')}`;
  const modern = { 'a2a-version': '1.0', authorization };
  for (const [service, expected] of [
    [behind, 'max-age=31536000'],
    [world.service(), undefined],
  ] as const) {
    const url = `${service.origin}/a2a`;
    const answers = [
      await plainCall(url, { method: 'GetTask', params: { id: 'none' }, headers: modern }),
      await plainCall(url, { method: 'GetTask', params: { id: 'none' }, headers: { authorization: 'Bearer no' } }),
      await plainCall(url, { method: 'SendStreamingMessage', params: script(['complete']), headers: modern }),
      await plainCall(`${service.origin}/nowhere`, { method: 'GetTask' }),
    ];
    for (const { status, headers } of answers)
      assert.equal(headers['strict-transport-security'], expected, `${status}`);
  }
});

test('A2A-Version: a call without one, or with an empty one, speaks 0.3; the query form says otherwise [3.6.2-empty, 3.6.2-semantics]', async () => {
  const params = legacyMessage('complete Done.');
  for (const headers of [{}, { 'a2a-version': '' }]) {
    const answer = await plainCall(`${world.service().origin}/a2a`, { method: 'message/send', params, headers });
    assert.equal(answer.json?.result?.kind, 'task');
    const modern = await plainCall(`${world.service().origin}/a2a`, { method: 'SendMessage', params, headers });
    assert.equal(modern.json?.error?.code, -32601);
  }
  const query = await plainCall(`${world.service().origin}/a2a?A2A-Version=1.0`, {
    method: 'SendMessage',
    params: script(['complete Done.']),
  });
  assert.equal(query.json?.result?.task?.status.state, 'TASK_STATE_COMPLETED');
});

test('A2A-Version: with 0.3 off a call without one answers -32009 and says what to send [3.3.2-actionable]', async () => {
  const service = await world.start({ A2A_VERSIONS: '1.0', DATABASE_URL: 'sqlite:./versions.db' });
  for (const method of ['SendMessage', 'message/send']) {
    const answer = await plainCall(`${service.origin}/a2a`, { method, params: legacyMessage('complete') });
    assert.equal(answer.status, 200);
    assert.equal(answer.json?.error?.code, -32009);
    assert.match(answer.text, /A2A-Version: 1\.0/);
  }
});

test('message/send of a manifest without version: Rovo is told which setting to change, and no task is made', async () => {
  const jira = world.jira();
  const answer = await jira.rpc('message/send', legacyMessage('complete'), { a2aVersion: null });
  assert.equal(answer.status, 200);
  assert.equal(answer.error?.code, -32601);
  assert.match(String(answer.error?.message), /version: "1\.0".*manifest\.yml/);
  const list = await jira.rpc('ListTasks', {});
  assert.equal((list.result as { totalSize: number }).totalSize, 0);
});
