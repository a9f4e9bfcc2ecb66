import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConfigError, type Environment, loadConfig } from '../../src/config.ts';
import { CONFIG_KEYS } from '../../src/config-schema.ts';

const APP = '5f3c1d2e-0a4b-4c6d-8e9f-a1b2c3d4e5f6';
const ARI = `ari:cloud:ecosystem::app/${APP}`;
const KEY_A = Buffer.alloc(32, 1).toString('base64');
const KEY_B = Buffer.alloc(32, 2).toString('base64url');
const JWT = {
  A2A_AUTH: 'jwt',
  A2A_JWT_ISSUER: 'https://login.example',
  A2A_JWT_AUDIENCE: 'connector',
  A2A_JWKS_URL: 'https://login.example/keys',
};

function refusal(env: Environment): ConfigError {
  try {
    loadConfig(env);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error;
  }
  assert.fail('the configuration was accepted');
}

function problem(env: Environment, key: string): string {
  const found = refusal(env).problems.filter((each) => each.key === key);
  assert.equal(found.length, 1, `${key}: ${JSON.stringify(refusal(env).problems)}`);
  return `${found[0]?.found} | ${found[0]?.set}`;
}

describe('defaults', () => {
  test('config: with only the app id every documented default holds', () => {
    assert.deepEqual(loadConfig({ FORGE_APP_ID: APP }), {
      logLevel: 'info',
      host: '127.0.0.1',
      port: 8080,
      publicUrl: 'http://127.0.0.1:8080',
      publicUrlDerived: true,
      database: { kind: 'sqlite', path: './data/connector.db' },
      role: 'all',
      maxBodyBytes: 5_242_880,
      limits: {
        ...{ connections: 10_000, requests: 2_000, requestsPerPrincipal: 500 },
        ...{ bodiesBytes: 134_217_728, answersBytes: 268_435_456 },
        ...{ streams: 10_000, streamsPerPrincipal: 1_000, queued: 500_000, queuedPerTenant: 10_000 },
      },
      drainMs: 25_000,
      ops: {},
      agent: { source: 'brief', id: 'agent', concurrency: 16, concurrencyPerTenant: 14, leaseMs: 30_000 },
      parkedMaxMs: 604_800_000,
      retentionMs: 2_592_000_000,
      credentialsKeys: [],
      rovo: {
        appId: ARI,
        jwksUrl: 'https://forge.cdn.prod.atlassian-dev.net/.well-known/jwks.json',
        versions: ['1.0'],
        waitMs: 10_000,
        syncDeadlineMs: 50_000,
        streamDeadlineMs: 890_000,
        chatDeadlineMs: 1_740_000,
        itemDeadlineMs: 3_540_000,
        apiHosts: ['api.atlassian.com'],
      },
      warnings: [],
    });
  });

  test('config: the A2A edge alone leaves Rovo off and has its own defaults', () => {
    const config = loadConfig({ A2A_AUTH: 'anonymous' });
    assert.equal(config.rovo, undefined);
    assert.deepEqual(config.a2a, {
      auth: { kind: 'anonymous' },
      waitMs: 60_000,
      streamDeadlineMs: 3_600_000,
      taskDeadlineMs: 86_400_000,
      versions: ['1.0', '0.3'],
      streaming: true,
      httpJson: true,
      requiredExtensions: [],
    });
  });

  test('config: PUBLIC_URL follows PORT unless it is set', () => {
    assert.equal(loadConfig({ FORGE_APP_ID: APP, PORT: '9000' }).publicUrl, 'http://127.0.0.1:9000');
    const given = loadConfig({ FORGE_APP_ID: APP, PUBLIC_URL: 'https://agent.example/base/' });
    assert.deepEqual([given.publicUrl, given.publicUrlDerived], ['https://agent.example/base', false]);
  });

  test('config: a blank value counts as unset, for every key', () => {
    const blank = Object.fromEntries(Object.keys(CONFIG_KEYS).map((key) => [key, ' \t']));
    assert.deepEqual(loadConfig({ ...blank, FORGE_APP_ID: APP }), loadConfig({ FORGE_APP_ID: APP }));
  });
});

describe('refusals', () => {
  test('config: no edge on is refused and says what to set', () => {
    for (const env of [{}, { FORGE_APP_ID: '' }, { FORGE_APP_ID: '  ', A2A_AUTH: 'off' }]) {
      assert.match(problem(env, 'FORGE_APP_ID'), /nobody could call.*A2A_AUTH=jwt/);
      assert.equal(refusal(env).exitCode, 78);
    }
  });

  test('config: every problem is listed at once, each with what was found and what to set', () => {
    const error = refusal({
      PORT: '70000',
      ROVO_WAIT_MS: '10s',
      A2A_AUTH: 'jwt',
      A2A_STREAMING: 'true',
      FORGE_APP_ID: 'my-app',
      ROLE: 'api',
    });
    assert.deepEqual(
      error.problems.map((each) => each.key),
      [
        'PORT',
        'FORGE_APP_ID',
        'ROVO_WAIT_MS',
        'A2A_STREAMING',
        'A2A_JWT_ISSUER',
        'A2A_JWT_AUDIENCE',
        'A2A_JWKS_URL',
        'CREDENTIALS_KEY',
      ],
    );
    assert.match(error.message, /ROVO_WAIT_MS: found "10s"; set a whole number of milliseconds from 1 to/);
    assert.match(error.message, /A2A_STREAMING: found "true"; set on or off/);
  });

  test('config: a malformed app id is refused instead of leaving Rovo off', () => {
    for (const id of [
      'x',
      `${APP}0`,
      `ari:cloud:ecosystem::app/`,
      `ari:cloud:ecosystem::environment/${APP}`,
      `${ARI}/x`,
    ]) {
      assert.match(problem({ FORGE_APP_ID: id }, 'FORGE_APP_ID'), /uuid/);
    }
  });

  const REFUSED: readonly (readonly [string, string])[] = [
    ['LOG_LEVEL', 'loud'],
    ['HOST', 'http://127.0.0.1'],
    ['PORT', '-1'],
    ['PORT', '8080.5'],
    ['PUBLIC_URL', 'agent.example'],
    ['PUBLIC_URL', 'https://user:pass@agent.example'],
    ['PUBLIC_URL', 'https://agent.example/?a=1'],
    ['DATABASE_URL', 'connector.db'],
    ['DATABASE_URL', 'sqlite:'],
    ['DATABASE_URL', 'sqlite::memory:'],
    ['ROLE', 'both'],
    ['MAX_BODY_BYTES', '5MB'],
    ['DRAIN_MS', '25s'],
    ['HELP_URL', 'http://help.example'],
    ['OPS_PORT', '8080'],
    ['AGENT', 'module:'],
    ['AGENT', 'gpt'],
    ['AGENT_ID', 'my agent'],
    ['AGENT_CONCURRENCY', '0'],
    ['LEASE_MS', '2147483648'],
    ['FORGE_JWKS_URL', 'http://keys.example/jwks.json'],
    ['FORGE_JWKS_URL', 'file:///etc/keys.json'],
    ['ROVO_SYNC_DEADLINE_MS', '55000'],
    ['ROVO_STREAM_DEADLINE_MS', '900000'],
    ['ROVO_API_HOSTS', 'https://api.atlassian.com'],
    ['A2A_VERSIONS', '1.0,2.0'],
    ['A2A_VERSIONS', ','],
    ['A2A_PUSH', 'true'],
    ['A2A_PUSH_ALLOW', 'http://127.0.0.1'],
    ['A2A_JWKS_URL', 'http://login.example/keys'],
    ['A2A_REQUIRED_EXTENSIONS', 'tracing'],
    ['A2A_CARD_SIGNING_KEY', 'secret'],
    ['A2A_CARD_SIGNING_KEY', '{"kty":"oct","k":"c2VjcmV0"}'],
    ['OPS_PORT', '0'],
    ['GRPC_PORT', '65536'],
    ['GRPC_PORT', '8080'],
    ['GRPC_URL', 'https://agent.example:443'],
    ['GRPC_URL', 'agent.example'],
    ['GRPC_URL', 'agent.example:0'],
    ['GRPC_URL', '[::g]:443'],
    ['CREDENTIALS_KEY', 'short'],
    ['CREDENTIALS_KEY', `${KEY_A},${Buffer.alloc(31).toString('base64')}`],
  ];
  for (const [key, text] of REFUSED) {
    test(`config: ${key}=${text} is refused by name, and alone`, () => {
      assert.deepEqual(
        refusal({ FORGE_APP_ID: APP, [key]: text }).problems.map((each) => each.key),
        [key],
      );
    });
  }

  test('config: PostgreSQL is refused with the reason', () => {
    assert.match(
      problem({ FORGE_APP_ID: APP, DATABASE_URL: 'postgres://db/x' }, 'DATABASE_URL'),
      /not available in this/,
    );
  });

  test('config: a longer wait than the deadline is refused, a default wait is cut to it', () => {
    const short = { FORGE_APP_ID: APP, ROVO_SYNC_DEADLINE_MS: '4000' };
    assert.match(problem({ ...short, ROVO_WAIT_MS: '5000' }, 'ROVO_WAIT_MS'), /at most ROVO_SYNC_DEADLINE_MS/);
    assert.equal(loadConfig(short).rovo?.waitMs, 4000);
  });

  test('config: no secret and no password is in a refusal', () => {
    const error = refusal({
      CREDENTIALS_KEY: 'hunter2-key',
      OPS_TOKEN: 'hunter2 token',
      DATABASE_URL: 'postgres://me:hunter2@db/x',
      PUBLIC_URL: 'https://me:hunter2@agent.example',
      FORGE_JWKS_URL: 'https://me:hunter2@keys.example',
    });
    assert.equal(error.problems.length, 6);
    assert.doesNotMatch(`${error.message}${JSON.stringify(error.problems)}`, /hunter2/);
  });
});

describe('anonymous access', () => {
  test('config: anonymous is refused unless HOST and PUBLIC_URL are loopback', () => {
    const open = { A2A_AUTH: 'anonymous' };
    for (const HOST of ['0.0.0.0', '::', '192.168.1.5', 'agent.example', '127.0.0.1.example', 'agent.localhost']) {
      assert.match(problem({ ...open, HOST }, 'HOST'), /anonymous.*loopback/);
    }
    for (const PUBLIC_URL of ['https://agent.example', 'http://10.0.0.1', 'http://127.0.0.1.nip.example']) {
      assert.match(problem({ ...open, PUBLIC_URL }, 'PUBLIC_URL'), /anonymous.*loopback/);
    }
    assert.equal(refusal({ ...open, HOST: '0.0.0.0', PUBLIC_URL: 'https://agent.example' }).problems.length, 2);
  });

  test('config: anonymous is refused where gRPC is to be reached from elsewhere', () => {
    const open = { A2A_AUTH: 'anonymous', GRPC_PORT: '0' };
    for (const GRPC_URL of ['agent.example:443', '10.0.0.1:443', '127.0.0.1.nip.example:1']) {
      assert.match(problem({ ...open, GRPC_URL }, 'GRPC_URL'), /anonymous.*loopback/);
    }
    assert.equal(loadConfig({ ...open, GRPC_URL: '[::1]:443' }).a2a?.grpc?.address, '[::1]:443');
  });

  test('config: anonymous is accepted on every spelling of loopback', () => {
    for (const HOST of ['127.0.0.1', '127.1.2.3', 'localhost', '::1', '[::1]', 'LOCALHOST']) {
      const config = loadConfig({ A2A_AUTH: 'anonymous', HOST, PUBLIC_URL: 'http://[::1]:8080' });
      assert.deepEqual(config.a2a?.auth, { kind: 'anonymous' });
    }
  });
});

describe('forms', () => {
  test('config: ARI, uuid and capitals of an app id are one audience', () => {
    for (const id of [APP, ARI, APP.toUpperCase(), ` ${ARI} `])
      assert.equal(loadConfig({ FORGE_APP_ID: id }).rovo?.appId, ARI);
  });

  test('config: jwt with its keys is read, with and without a tenant claim', () => {
    const plain = {
      kind: 'jwt',
      issuer: 'https://login.example',
      audience: 'connector',
      jwksUrl: 'https://login.example/keys',
    };
    assert.deepEqual(loadConfig(JWT).a2a?.auth, plain);
    assert.deepEqual(loadConfig({ ...JWT, A2A_TENANT_CLAIM: 'org' }).a2a?.auth, { ...plain, tenantClaim: 'org' });
  });

  test('config: gRPC is off unless it has a port, and is told where callers reach it', () => {
    assert.equal(loadConfig(JWT).a2a?.grpc, undefined);
    assert.deepEqual(loadConfig({ ...JWT, GRPC_PORT: '0' }).a2a?.grpc, { port: 0 });
    const config = loadConfig({ ...JWT, GRPC_PORT: '8081', GRPC_URL: 'Agent.example:443' });
    assert.deepEqual(config.a2a?.grpc, { port: 8081, address: 'agent.example:443' });
    assert.deepEqual(config.warnings, []);
  });

  test('config: gRPC settings that do nothing are told', () => {
    const told = (env: Record<string, string>) => loadConfig({ FORGE_APP_ID: APP, ...env }).warnings;
    assert.deepEqual(told({ ...JWT, GRPC_URL: 'agent.example:443' }), [
      'GRPC_URL has no effect while GRPC_PORT is not set',
    ]);
    assert.deepEqual(told({ GRPC_PORT: '8081' }), ['GRPC_PORT has no effect while A2A_AUTH is off']);
    const sent = told({ ...JWT, GRPC_PORT: '8081', PUBLIC_URL: 'https://agent.example' });
    assert.match(sent.join(), /^GRPC_URL is not set: callers are told to use agent\.example:8081/);
    const legacy = loadConfig({ ...JWT, A2A_VERSIONS: '0.3', GRPC_PORT: '8081' });
    assert.deepEqual(legacy.warnings, ['GRPC_PORT has no effect while A2A_VERSIONS has no 1.0']);
    assert.equal(legacy.a2a?.grpc, undefined);
  });

  test('config: key sets over http are accepted on loopback only', () => {
    const config = loadConfig({ FORGE_APP_ID: APP, FORGE_JWKS_URL: 'http://127.0.0.1:4000/jwks.json' });
    assert.equal(config.rovo?.jwksUrl, 'http://127.0.0.1:4000/jwks.json');
  });

  test('config: a list of sealing keys keeps its order and lets other roles start', () => {
    const config = loadConfig({ FORGE_APP_ID: APP, ROLE: 'worker', CREDENTIALS_KEY: `${KEY_B}, ${KEY_A}` });
    assert.deepEqual(
      config.credentialsKeys.map((key) => [key.length, key[0]]),
      [
        [32, 2],
        [32, 1],
      ],
    );
    assert.match(problem({ FORGE_APP_ID: APP, ROLE: 'worker' }, 'CREDENTIALS_KEY'), /ROLE is worker/);
  });

  test('config: a SQLite path may be relative or absolute', () => {
    const path = (DATABASE_URL: string) => loadConfig({ FORGE_APP_ID: APP, DATABASE_URL }).database.path;
    assert.equal(path('sqlite:data/a.db'), 'data/a.db');
    assert.equal(path('sqlite:/var/a.db'), '/var/a.db');
    assert.equal(path('sqlite:///var/a.db'), '/var/a.db');
  });

  test('config: lists, agents and hosts are normalised', () => {
    const config = loadConfig({
      FORGE_APP_ID: APP,
      AGENT: 'module:./my-agent.mjs',
      ROVO_API_HOSTS: ' API.atlassian.com ,127.0.0.1:4000,',
      ROVO_MODULE_KEYS: 'connector,connector',
      A2A_AUTH: 'anonymous',
      A2A_VERSIONS: '1.0',
      A2A_STREAMING: 'off',
      HOST: '[::1]',
    });
    assert.equal(config.agent.source, 'module:./my-agent.mjs');
    assert.deepEqual(config.rovo?.apiHosts, ['api.atlassian.com', '127.0.0.1:4000']);
    assert.deepEqual(config.rovo?.moduleKeys, ['connector']);
    assert.deepEqual(config.a2a?.versions, ['1.0']);
    assert.equal(config.a2a?.streaming, false);
    assert.equal(config.host, '::1');
    assert.equal(config.a2a?.push, undefined);
    const push = loadConfig({ A2A_AUTH: 'anonymous', A2A_PUSH: 'on', A2A_PUSH_ALLOW: 'LOCALHOST:9000,[::1]' });
    assert.deepEqual(push.a2a?.push, { allowedHosts: ['localhost:9000', '[::1]'] });
  });
});
