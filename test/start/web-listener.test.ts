import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { HttpEndpoint } from '../../adapters/a2a/http.ts';
import { createTelemetry } from '../../src/telemetry.ts';
import { createWebListener } from '../../src/web-listener.ts';
import { openRaw } from '../a2a/raw-socket.ts';
import { until } from '../support/until.ts';

/** A listener whose endpoint answers `/a2a`, with what it logged and how often its application was asked. */
async function listening(t: TestContext, endpoint: HttpEndpoint) {
  const lines: Record<string, unknown>[] = [];
  const asked: string[] = [];
  const telemetry = createTelemetry({ level: 'info', destination: { write: (line) => lines.push(JSON.parse(line)) } });
  const server = createServer(
    createWebListener({
      telemetry,
      https: true,
      endpoints: [(request, response) => (request.url?.startsWith('/a2a') ? endpoint(request, response) : undefined)],
      app: async (request, response) => {
        asked.push(request.url ?? '');
        response.end('app');
      },
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, lines, asked, origin: `http://127.0.0.1:${port}` };
}

test('web listener: what no endpoint takes goes to the application, and both are for TLS', async (t) => {
  const { origin, asked } = await listening(t, async (_, response) => {
    response.writeHead(200, ['Content-Type', 'text/plain']).end('endpoint');
  });
  for (const [path, text] of [
    ['/a2a', 'endpoint'],
    ['/livez', 'app'],
  ]) {
    const response = await fetch(`${origin}${path}`);
    assert.equal(await response.text(), text);
    assert.equal(response.headers.get('strict-transport-security'), 'max-age=31536000');
  }
  assert.deepEqual(asked, ['/livez']);
});

test('web listener: an endpoint that fails answers 500 with a fixed text, and the log has the path alone', async (t) => {
  const throws = (): never => {
    throw new Error('why');
  };
  for (const fails of [() => Promise.reject(new Error('why')), throws]) {
    const { origin, lines } = await listening(t, fails);
    const response = await fetch(`${origin}/a2a?secret`);
    assert.equal(response.status, 500);
    assert.deepEqual(await response.json(), { error: 'Internal error' });
    assert.equal(lines[0]?.event, 'http.failed');
    assert.equal(lines[0]?.path, '/a2a');
  }
});

test('web listener: an endpoint that fails within its answer is cut off', async (t) => {
  const { port, lines } = await listening(t, async (_, response) => {
    response.writeHead(200);
    response.write('begun');
    throw new Error('why');
  });
  const raw = await openRaw(t, port);
  raw.socket.write('GET /a2a HTTP/1.1\r\nHost: x\r\n\r\n');
  await raw.closed();
  assert.doesNotMatch(raw.received(), /Internal error/);
  assert.equal(lines[0]?.event, 'http.failed');
});

test('web listener: a connection that breaks while an answer is owed is said, one that breaks later is not', async (t) => {
  const owed: ServerResponse[] = [];
  const closed: string[] = [];
  const { port, lines } = await listening(t, async (request, response) => {
    response.once('close', () => closed.push(request.url ?? ''));
    if (request.url === '/a2a/owed') owed.push(response);
    else response.end('done');
  });
  const answered = await openRaw(t, port);
  answered.socket.write('GET /a2a HTTP/1.1\r\nHost: x\r\n\r\n');
  await answered.until(/done/);
  answered.socket.resetAndDestroy();
  const waiting = await openRaw(t, port);
  waiting.socket.write('GET /a2a/owed HTTP/1.1\r\nHost: x\r\n\r\n');
  await until('it is owed an answer', () => owed.length === 1);
  waiting.socket.resetAndDestroy();
  await until('both are closed', () => closed.length === 2);
  await until('it is said', () => lines.length > 0);
  assert.deepEqual(
    lines.map(({ event, level }) => [event, level]),
    [['http.socket_failed', 'warn']],
  );
});
