import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { createKeySet, type KeySet, type KeySetOptions } from '../../adapters/jwks/key-set.ts';
import { isDomainError } from '../../core/errors.ts';
import { type Outage, startJwksEndpoint } from '../../simulator/forge/jwks-endpoint.ts';
import { createKeyRing } from '../../simulator/forge/key-ring.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { createMovedClock } from './moved-clock.ts';
import { until } from './until.ts';

const closing: (() => unknown)[] = [];
after(() => Promise.all(closing.map((close) => close())));

async function setUp(options: Partial<KeySetOptions> = {}) {
  const ring = await createKeyRing();
  const host = await startJwksEndpoint(ring);
  const clock = createMovedClock();
  let finished = 0;
  const telemetry = { ...silentTelemetry, count: () => finished++ };
  const keys = createKeySet({ url: host.url, clock, telemetry, ...options });
  closing.push(() => host.close(), keys.close);
  return { ring, host, clock, keys, attempts: () => finished };
}

function find(keys: KeySet, kid: string | undefined) {
  return keys.find({ alg: 'RS256', ...(kid === undefined ? {} : { kid }) }, { payload: '', signature: '' });
}

const outcome = (keys: KeySet, kid: string | undefined) =>
  find(keys, kid).then(
    () => 'found',
    (error: unknown) => (isDomainError(error) ? error.code : String(error)),
  );

async function randomKids(keys: KeySet, count: number): Promise<readonly string[]> {
  const codes: string[] = [];
  const batch = 100;
  for (let sent = 0; sent < count; sent += batch) {
    codes.push(...(await Promise.all(Array.from({ length: batch }, () => outcome(keys, randomUUID())))));
  }
  return [...new Set(codes)];
}

/** A host of its own kind; answers its URL. */
async function host(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
}

describe('key set: fetching', () => {
  test('1,000 made-up key ids cause one fetch per cooldown and are refused', async () => {
    const { host, clock, keys } = await setUp();
    assert.deepEqual(await randomKids(keys, 1_000), ['UNAUTHENTICATED']);
    assert.equal(host.requests(), 1);
    clock.advance(30_000);
    assert.deepEqual(await randomKids(keys, 1_000), ['UNAUTHENTICATED']);
    assert.equal(host.requests(), 2);
  });

  for (const outage of ['error', 'refuse', 'hang'] as const satisfies readonly Outage[]) {
    test(`1,000 made-up key ids cause one fetch per cooldown while the host is down (${outage})`, async () => {
      // Only a host that hangs is given up; a busy machine needs more than a moment to reach the others.
      const { host, clock, keys } = await setUp(outage === 'hang' ? { timeoutMs: 500 } : {});
      host.outage(outage);
      assert.deepEqual(await randomKids(keys, 1_000), ['AUTHENTICATION_UNAVAILABLE']);
      assert.equal(host.requests(), 1);
      clock.advance(30_000);
      assert.deepEqual(await randomKids(keys, 1_000), ['AUTHENTICATION_UNAVAILABLE']);
      assert.equal(host.requests(), 2);
    });
  }

  test('a refusal during an outage says when the next attempt may be made', async () => {
    const { host, clock, keys } = await setUp();
    host.outage('error');
    await outcome(keys, 'any');
    clock.advance(12_000);
    await assert.rejects(find(keys, 'any'), (error: unknown) => {
      assert.ok(isDomainError(error, 'AUTHENTICATION_UNAVAILABLE'));
      const { retryAfterMs = 0 } = error;
      assert.ok(retryAfterMs > 15_000 && retryAfterMs <= 18_000, `retry after ${retryAfterMs} ms`);
      return true;
    });
  });

  test('the host is asked again after the cooldown of a failed attempt', async () => {
    const { ring, host, clock, keys } = await setUp();
    host.outage('refuse');
    assert.equal(await outcome(keys, ring.current().kid), 'AUTHENTICATION_UNAVAILABLE');
    host.outage('none');
    assert.equal(await outcome(keys, ring.current().kid), 'AUTHENTICATION_UNAVAILABLE');
    clock.advance(30_000);
    assert.equal(await outcome(keys, ring.current().kid), 'found');
  });

  test('a clock that is set back by an hour holds no fetch up', async () => {
    const { ring, clock, keys } = await setUp();
    await outcome(keys, ring.current().kid);
    const { kid } = await ring.rotate();
    clock.advance(-3_600_000);
    assert.equal(await outcome(keys, kid), 'found');
  });

  test('a key that was published after the last fetch is found after the cooldown', async () => {
    const { ring, clock, keys } = await setUp();
    await outcome(keys, ring.current().kid);
    const { kid } = await ring.rotate();
    assert.equal(await outcome(keys, kid), 'UNAUTHENTICATED');
    clock.advance(30_000);
    assert.equal(await outcome(keys, kid), 'found');
  });

  test('an unknown key says that it is one, whether the host was asked now or a moment ago, and what comes next', async () => {
    const { host, clock, keys } = await setUp();
    const reason = (kid: string) =>
      find(keys, kid).then(
        () => 'found',
        (error: unknown) => String((error as Error).cause),
      );
    const unknown = `Error: unknown key id: ${new URL(host.url).host} does not publish it; next fetch in`;
    assert.equal(await reason('a'), `${unknown} 30 s`);
    clock.advance(12_000);
    assert.equal(await reason('b'), `${unknown} 18 s`);
    host.outage('error');
    clock.advance(18_000);
    await reason('c');
    clock.advance(5_000);
    assert.match(await reason('d'), /the key set cannot be fetched \(.*status 503\); next fetch in 25 s/);
  });

  test('a token without a key id causes no fetch', async () => {
    const { host, keys } = await setUp();
    assert.equal(await outcome(keys, undefined), 'UNAUTHENTICATED');
    assert.equal(await outcome(keys, ''), 'UNAUTHENTICATED');
    assert.equal(host.requests(), 0);
  });
});

describe('key set: age', () => {
  test('a known key works through an hour of outage', async () => {
    const { ring, host, clock, keys, attempts } = await setUp();
    const { kid } = ring.current();
    assert.equal(await outcome(keys, kid), 'found');
    host.outage('refuse');
    for (let minutes = 10; minutes <= 60; minutes += 10) {
      const before = attempts();
      clock.advance(600_000);
      await until(() => attempts() > before);
      assert.equal(await outcome(keys, kid), 'found', `after ${minutes} minutes`);
    }
  });

  test('keys that could not be refreshed for a day are dropped, and come back with the host', async () => {
    const { ring, host, clock, keys } = await setUp({ reloadMs: 1e12 });
    const { kid } = ring.current();
    await outcome(keys, kid);
    host.outage('error');
    clock.advance(86_000_000);
    assert.equal(await outcome(keys, kid), 'found');
    clock.advance(400_000);
    assert.equal(await outcome(keys, kid), 'AUTHENTICATION_UNAVAILABLE');
    host.outage('none');
    clock.advance(30_000);
    assert.equal(await outcome(keys, kid), 'found');
  });

  test('the reload in the background takes withdrawn keys away without a request asking [13.4-revoked]', async () => {
    const { ring, host, clock, keys, attempts } = await setUp();
    const old = ring.current().kid;
    await outcome(keys, old);
    await ring.rotate();
    ring.remove(old);
    assert.equal(await outcome(keys, old), 'found');
    clock.advance(600_000);
    await until(() => attempts() === 2);
    assert.equal(await outcome(keys, old), 'UNAUTHENTICATED');
    assert.equal(host.requests(), 2);
    clock.advance(600_000);
    await until(() => attempts() === 3);
  });

  test('after close the host is left alone', async () => {
    const { ring, host, clock, keys } = await setUp();
    await outcome(keys, ring.current().kid);
    keys.close();
    clock.advance(3_600_000);
    assert.equal(await outcome(keys, ring.current().kid), 'found');
    assert.equal(host.requests(), 1);
  });
});

describe('key set: what a host may answer', () => {
  async function answered(listener: RequestListener, maxBytes = 262_144): Promise<string> {
    const { keys } = await setUp({ url: await host(listener), maxBytes });
    return outcome(keys, 'any');
  }

  test('a redirect is not followed', async () => {
    const { ring, host: target } = await setUp();
    const { keys } = await setUp({
      url: await host((_, response) => {
        response.writeHead(302, { location: target.url }).end();
      }),
    });
    assert.equal(await outcome(keys, ring.current().kid), 'AUTHENTICATION_UNAVAILABLE');
    assert.equal(target.requests(), 0);
  });

  test('an answer above the size limit is dropped as soon as it is known to be', async () => {
    let sent = 0;
    const code = await answered((_, response) => {
      const more = () => {
        sent += 65_536;
        if (!response.destroyed) response.write(Buffer.alloc(65_536, ' '), () => setImmediate(more));
      };
      more();
    }, 100_000);
    assert.equal(code, 'AUTHENTICATION_UNAVAILABLE');
    assert.ok(sent < 50_000_000, `${sent} bytes were taken`);
  });

  for (const [what, body] of [
    ['HTML', '<html></html>'],
    ['JSON that is no key set', '{"keys":7}'],
    ['nothing', ''],
  ] as const) {
    test(`${what} counts as a failed attempt and leaves the known keys alone`, async () => {
      const ring = await createKeyRing();
      let text = JSON.stringify(ring.jwks());
      const url = await host((_, response) => response.end(text));
      const { clock, keys } = await setUp({ url });
      assert.equal(await outcome(keys, ring.current().kid), 'found');
      text = body;
      clock.advance(30_000);
      assert.equal(await outcome(keys, 'unknown'), 'AUTHENTICATION_UNAVAILABLE');
      assert.equal(await outcome(keys, ring.current().kid), 'found');
    });
  }
});
