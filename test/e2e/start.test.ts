import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { steadyPort } from '../faults/steady-port.ts';
import { launchService } from '../support/service-process.ts';
import { tempDir } from '../support/temp-dir.ts';
import { startWorld, type World } from './world.ts';

describe('start refusals', () => {
  const EDGE = { A2A_AUTH: 'anonymous' };
  const REFUSED: readonly (readonly [string, Readonly<Record<string, string>>, readonly RegExp[]])[] = [
    ['with no edge on', {}, [/FORGE_APP_ID/, /A2A_AUTH=jwt/]],
    ['with a blank app id', { FORGE_APP_ID: '  ' }, [/FORGE_APP_ID/]],
    ['with a malformed app id', { FORGE_APP_ID: 'my-app' }, [/FORGE_APP_ID/]],
    ['anonymous on every interface', { ...EDGE, HOST: '0.0.0.0' }, [/HOST: found 0\.0\.0\.0.*loopback/]],
    [
      'anonymous with a public address',
      { ...EDGE, PUBLIC_URL: 'https://agent.example' },
      [/PUBLIC_URL: found https:\/\/agent\.example.*loopback/],
    ],
    ['jwt without its keys', { A2A_AUTH: 'jwt' }, [/A2A_JWT_ISSUER/, /A2A_JWT_AUDIENCE/, /A2A_JWKS_URL/]],
    [
      'with several faults at once',
      { LOG_LEVEL: 'loud', PORT: 'x', ROLE: 'worker' },
      [/LOG_LEVEL/, /PORT/, /FORGE_APP_ID/, /CREDENTIALS_KEY/],
    ],
  ];

  for (const [name, settings, said] of REFUSED) {
    test(`start: ${name} is refused with 78, saying what to set, and opens nothing`, async (t) => {
      const directory = tempDir(t);
      const service = launchService({ directory, settings });
      assert.equal(await service.exited(), 78);
      for (const text of said) assert.match(service.output(), text);
      assert.match(service.output(), /docs\/configuration\.md/);
      assert.deepEqual(readdirSync(directory), [], 'no database was made');
      assert.deepEqual(service.log(), [], 'nothing was logged, it did not listen');
    });
  }

  test('start: an agent module that is not there is refused with 78 and named', async (t) => {
    const service = launchService({ directory: tempDir(t), settings: { ...EDGE, AGENT: 'module:./nowhere.mjs' } });
    assert.equal(await service.exited(), 78);
    assert.match(service.output(), /nowhere\.mjs/);
  });
});

test('start: the first line says where it listens, also on ports that the system chose, what it serves and which agent runs', async (t) => {
  const opsPort = await steadyPort();
  const settings = { A2A_AUTH: 'anonymous', GRPC_PORT: '0', OPS_PORT: opsPort, AGENT_ID: 'clerk' };
  const service = launchService({ directory: tempDir(t), settings });
  await service.ready();
  const ready = service.log().find(({ event }) => event === 'service.ready');
  service.signal('SIGTERM');
  assert.match(String(ready?.url), /^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  assert.match(String(ready?.grpc), /^127\.0\.0\.1:[1-9]\d*$/);
  assert.equal(ready?.opsUrl, `http://127.0.0.1:${opsPort}`);
  assert.deepEqual([ready?.edges, ready?.agent, ready?.agentSource], ['a2a', 'clerk', 'brief']);
  assert.equal(await service.exited(), 0);
});

describe('a running service', () => {
  let world: World;
  before(async () => {
    world = await startWorld({ agent: 'rerun', settings: { OPS_TOKEN: 'ops-secret' } });
  });
  after(() => world.close());

  const get = (path: string, headers: Record<string, string> = {}) => fetch(world.service().origin + path, { headers });

  test('service: livez and readyz are public, metrics belong to whoever has the operations token', async () => {
    assert.equal((await get('/livez')).status, 200);
    assert.equal((await get('/readyz')).status, 200);
    assert.equal((await get('/metrics')).status, 401);
    assert.equal((await get('/metrics', { authorization: 'Bearer wrong' })).status, 401);
    const metrics = await get('/metrics', { authorization: 'Bearer ops-secret' });
    assert.match(await metrics.text(), /^a2a_executions_waiting \d+$/m);
  });

  test('service: its metrics tell what is accepted, what is called and what is refused, by edge [13.4-monitored]', async () => {
    const jira = world.jira();
    const { task } = await jira.chat('ask Which one?').sync();
    await jira.chat('complete Done.').sync();
    await jira.cancel(String(task?.id));
    await jira.get('none', { authorization: null });
    const text = await (await get('/metrics', { authorization: 'Bearer ops-secret' })).text();
    for (const line of [
      'a2a_messages_accepted_total{edge="rovo",kind="create"} 2',
      'a2a_requests_total{edge="rovo",method="SendMessage",outcome="ok"} 2',
      'a2a_requests_total{edge="rovo",method="CancelTask",outcome="ok"} 1',
      'a2a_requests_total{edge="rovo",method="none",outcome="http-401"} 1',
    ]) {
      assert.ok(text.split('\n').includes(line), `${line} in\n${text}`);
    }
  });

  test('service: an unknown path is a JSON 404, without an edge its routes are too', async () => {
    const answer = await get('/rovo/unknown');
    assert.equal(answer.status, 404);
    assert.match(String(answer.headers.get('content-type')), /application\/json/);
    const other = await world.start({ FORGE_APP_ID: '', DATABASE_URL: 'sqlite:./other.db' });
    const rovo = await fetch(`${other.origin}/rovo/a2a`, { method: 'POST', body: '{}' });
    assert.equal(rovo.status, 404);
    other.signal('SIGTERM');
    assert.equal(await other.exited(), 0);
  });

  for (const setting of ['PORT', 'OPS_PORT', 'GRPC_PORT'] as const) {
    test(`start: a ${setting} that somebody else has is named, with what to do`, async () => {
      const { port } = new URL(world.service().origin);
      const service = world.launch({ DATABASE_URL: `sqlite:./${setting}.db`, [setting]: port });
      assert.equal(await service.exited(), 1);
      assert.match(
        service.output(),
        new RegExp(`^${setting}: cannot listen on .*EADDRINUSE.*set ${setting} to another`, 'm'),
      );
    });
  }

  test('SIGTERM: connections are refused, the service ends with 0 and says so', async () => {
    const service = await world.start({ DATABASE_URL: 'sqlite:./stopped.db' });
    const { port } = new URL(service.origin);
    service.signal('SIGTERM');
    assert.equal(await service.exited(), 0);
    assert.ok(service.log().some(({ event }) => event === 'service.stopped'));
    const refused = await new Promise((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => resolve('connected'));
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    });
    assert.equal(refused, 'ECONNREFUSED');
  });

  test('SIGTERM: a second one ends the service at once, whatever still runs', async () => {
    const service = await world.start({ DATABASE_URL: 'sqlite:./hurried.db' });
    const place = world.outside.place({ closed: true });
    // Its connection dies with the service.
    const sent = world
      .jira(service)
      .chat(`call ${place.name}`)
      .sync()
      .catch(() => undefined);
    await place.reached();
    service.signal('SIGTERM');
    await service.logged('service.stopping');
    service.signal('SIGTERM');
    assert.equal(await service.exited(), 1);
    assert.ok(service.log().some(({ event }) => event === 'service.stop_cut'));
    await sent;
  });
});
