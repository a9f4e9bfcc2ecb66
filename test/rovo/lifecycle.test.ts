import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import Koa from 'koa';
import { createRovoRoutes } from '../../adapters/rovo/routes.ts';
import { DomainError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import { LIFECYCLE_MODULE } from '../../simulator/forge/invocation-token.ts';
import { until } from '../jwks/until.ts';
import { ALICE, createWorld, INSTALLATION, TENANT, type World } from './world.ts';

const OTHER = 'bbbbbbbb-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const MODULE = { module: LIFECYCLE_MODULE, omit: ['principal'] };
const eventBody = (eventType: string, id = INSTALLATION.id) => ({
  id,
  context: `ari:cloud:jira::site/${INSTALLATION.cloudId}`,
  installerAccountId: ALICE,
  eventType,
  permissions: { scopes: ['read:jira-work'], external: {} },
});
const INSTALLED = eventBody('avi:forge:installed:app');
const UPGRADED = eventBody('avi:forge:upgraded:app');

let world: World;
let origin: string;
let closeServer: () => void;
/** Bodies that the routes wait for. */
let awaited = 0;

/** `edge` in place of the world's own. */
async function serve(edge: Parameters<typeof createRovoRoutes>[0]['edge']): Promise<void> {
  const app = new Koa();
  const clock: Clock = {
    now: world.clock.now,
    timer(ms, callback) {
      const cancel = world.clock.timer(ms, callback);
      awaited += 1;
      return () => {
        awaited -= 1;
        cancel();
      };
    },
  };
  app.use(createRovoRoutes({ edge, clock, telemetry: world.telemetry }).routes());
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  closeServer = () => {
    server.closeAllConnections();
    server.close();
  };
}

beforeEach(async () => {
  world = await createWorld();
  await serve(world.edge);
});
afterEach(async () => {
  closeServer();
  await world.close();
});

async function post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response> {
  return fetch(origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(headers ?? (await world.headers(MODULE))) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const lifecycle = (body: unknown, headers?: Record<string, string>) => post('/rovo/lifecycle', body, headers);
const preUninstall = (body: unknown = {}) => post('/rovo/pre-uninstall', body);
const statusOf = async () => (await world.tenants.get(TENANT))?.status;

describe('lifecycle: events in every order', () => {
  const send = {
    installed: () => lifecycle(INSTALLED),
    upgraded: () => lifecycle(UPGRADED),
    removed: () => preUninstall(),
    call: async () => {
      await world.edge.authenticate(await world.headers()).catch(() => {});
      return undefined;
    },
  } as const;
  type Name = keyof typeof send;

  function permutations(names: readonly Name[]): readonly (readonly Name[])[] {
    if (names.length === 0) return [[]];
    return names.flatMap((first, at) => permutations(names.toSpliced(at, 1)).map((rest) => [first, ...rest]));
  }

  for (const order of permutations(['installed', 'upgraded', 'removed', 'call'])) {
    test(`${order.join(', ')}: removed in the end, everything answered with 200`, async () => {
      for (const name of order) assert.equal((await send[name]())?.status ?? 200, 200, name);
      assert.equal(await statusOf(), 'removed');
    });
  }

  for (const order of permutations(['installed', 'upgraded', 'call'])) {
    test(`${order.join(', ')}, each twice: one active tenant, written once`, async () => {
      for (const name of [...order, ...order]) assert.equal((await send[name]())?.status ?? 200, 200, name);
      assert.equal(await statusOf(), 'active');
      assert.equal(world.writes(), 1);
    });
  }

  test('five copies at once leave one tenant', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => lifecycle(INSTALLED)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
    assert.equal(await statusOf(), 'active');
  });

  test('a late installed event does not even revive what a call would', async () => {
    await preUninstall();
    world.clock.advance(3_600_000);
    assert.equal((await lifecycle(INSTALLED)).status, 200);
    assert.equal(await statusOf(), 'removed');
  });
});

describe('lifecycle: what the body may say', () => {
  test('another id is logged and ignored', async () => {
    assert.equal((await lifecycle(eventBody('avi:forge:installed:app', OTHER))).status, 200);
    assert.equal(await statusOf(), 'active');
    assert.equal(await world.tenants.get(`rovo:${OTHER}`), undefined);
    assert.ok(world.log.some(({ name }) => name === 'rovo.lifecycle.foreign_id'));
    await preUninstall({ id: OTHER });
    assert.equal(await statusOf(), 'removed');
    assert.equal(await world.tenants.get(`rovo:${OTHER}`), undefined);
  });

  test('an event that nobody knows is answered and changes nothing', async () => {
    for (const body of [eventBody('avi:forge:renamed:app'), {}, [], 'null', '']) {
      assert.equal((await lifecycle(body)).status, 200);
    }
    assert.equal(await statusOf(), undefined);
  });

  test('what is no JSON is refused, but does not stop a removal', async () => {
    assert.equal((await lifecycle('{"id":')).status, 400);
    assert.equal(await statusOf(), undefined);
    assert.equal((await post('/rovo/pre-uninstall', '<xml/>')).status, 200);
    assert.equal(await statusOf(), 'removed');
  });

  test('a body above the limit is refused, whether or not it says so first', async () => {
    const big = JSON.stringify({ ...INSTALLED, padding: 'x'.repeat(70_000) });
    assert.equal((await lifecycle(big)).status, 413);
    const headers = await world.headers(MODULE);
    const chunked = request(`${origin}/rovo/lifecycle`, { method: 'POST', headers });
    chunked.on('error', () => {});
    chunked.write(big);
    const [response] = await once(chunked, 'response');
    assert.equal(response.statusCode, 413);
    chunked.destroy();
    assert.equal(await statusOf(), undefined);
  });
});

describe('lifecycle: a body that does not come', () => {
  async function halfSent() {
    const headers = await world.headers(MODULE);
    const half = request(`${origin}/rovo/lifecycle`, {
      method: 'POST',
      headers: { ...headers, 'content-length': '100' },
    });
    half.on('error', () => {});
    half.write('{');
    await until(() => awaited === 1);
    return half;
  }

  test('is waited for 30 s and no longer, then the connection ends', async () => {
    const half = await halfSent();
    const answered = once(half, 'response');
    world.clock.advance(29_000);
    assert.equal((await lifecycle(INSTALLED)).status, 200);
    assert.equal(half.destroyed, false);
    world.clock.advance(1_000);
    const [response] = await answered;
    assert.equal(response.statusCode, 408);
    assert.equal(response.headers.connection, 'close');
    response.resume();
    await once(half, 'close');
  });

  test('of a client that leaves is no fault of ours', async () => {
    const half = await halfSent();
    half.destroy();
    await until(() => awaited === 0);
    assert.deepEqual(
      world.log.filter(({ name }) => name === 'rovo.lifecycle.failed'),
      [],
    );
  });
});

describe('lifecycle: who may call', () => {
  test('without a valid token: 401 with a challenge, before the body is there', async () => {
    const early = request(`${origin}/rovo/lifecycle`, { method: 'POST', headers: { 'content-length': '40' } });
    early.on('error', () => {});
    early.flushHeaders();
    const [response] = await once(early, 'response');
    assert.equal(response.statusCode, 401);
    assert.equal(response.headers['www-authenticate'], 'Bearer');
    early.destroy();
    assert.equal(world.jwks.requests(), 0);
  });

  test('two Authorization headers: 401', async () => {
    const { authorization = '' } = await world.headers(MODULE);
    const doubled = request(`${origin}/rovo/lifecycle`, { method: 'POST' });
    doubled.setHeader('authorization', [authorization, authorization]);
    doubled.end(JSON.stringify(INSTALLED));
    const [response] = await once(doubled, 'response');
    assert.equal(response.statusCode, 401);
    response.resume();
  });

  test('a token that a browser can see: 401, and nothing is removed', async () => {
    await lifecycle(INSTALLED);
    const headers = await world.headers({ module: { type: 'jira:adminPage', key: 'admin' } });
    assert.equal((await post('/rovo/pre-uninstall', {}, headers)).status, 401);
    assert.equal(await statusOf(), 'active');
  });

  test('keys that cannot be had: 503 that says when to try again', async () => {
    world.jwks.outage('error');
    const answer = await lifecycle(INSTALLED);
    assert.equal(answer.status, 503);
    const seconds = Number(answer.headers.get('retry-after'));
    assert.ok(seconds > 0 && seconds <= 30, `${seconds} s`);
  });

  test('a slash at the end is no other address', async () => {
    assert.equal((await post('/rovo/lifecycle/', INSTALLED)).status, 200);
  });
});

describe('lifecycle: faults behind it', () => {
  for (const [error, status] of [
    [new DomainError('STORE_UNAVAILABLE', 'Try again', { retryAfterMs: 1_500 }), 503],
    [new Error('select secret from somewhere'), 500],
  ] as const) {
    test(`${error.message}: ${status} without its words`, async () => {
      closeServer();
      const failing = async () => Promise.reject(error);
      await serve({ ...world.edge, lifecycle: { installed: failing, preUninstall: failing } });
      const answer = await lifecycle(INSTALLED);
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get('retry-after'), status === 503 ? '2' : null);
      assert.ok(!(await answer.text()).includes('secret'));
    });
  }
});
