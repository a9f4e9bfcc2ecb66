import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createHttpServer } from '../../src/http-server.ts';
import { until } from '../support/until.ts';

interface Listening {
  readonly refusals: () => number;
  open(): Promise<{ readonly socket: Socket; get(path?: string): Promise<string> }>;
}

async function listening(t: TestContext, max: number): Promise<Listening> {
  let refusals = 0;
  const server = createHttpServer((request, response) => response.end(`served ${request.url}`), {
    max,
    refused: () => {
      refusals += 1;
    },
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0, setting: 'PORT' });
  t.after(() => server.close(0));
  return {
    refusals: () => refusals,
    async open() {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', () => undefined);
      t.after(() => socket.destroy());
      await once(socket, 'connect');
      return {
        socket,
        get(path = '/a2a') {
          text = '';
          socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
          return until('an answer', () => /(\r\n\r\n.|\r\n0\r\n)/s.test(text) && text);
        },
      };
    },
  };
}

test('connections: those above the bound are told when to come again, and closed', async (t) => {
  const { open, refusals } = await listening(t, 2);
  const kept = [await open(), await open()];
  for (const connection of kept) assert.match(await connection.get(), /200 OK.*served/s);
  const surplus = await open();
  const closed = once(surplus.socket, 'close');
  const answer = await surplus.get();
  assert.match(answer, /^HTTP\/1\.1 503 /);
  assert.match(answer, /retry-after: 1\r\n/i);
  assert.match(answer, /connection: close\r\n/i);
  assert.match(answer, /\{"error":"Too many connections"\}/);
  await closed;
  assert.equal(refusals(), 1);
  assert.match(await (kept[0] ?? assert.fail()).get(), /200 OK/);
});

test('connections: one that has gone makes room', async (t) => {
  const { open } = await listening(t, 1);
  const first = await open();
  await first.get();
  first.socket.destroy();
  await until('there is room', async () => {
    const next = await open();
    const answer = await next.get();
    next.socket.destroy();
    return answer.includes('200 OK');
  });
});

test('connections: whether the process lives is answered above the bound as well', async (t) => {
  const { open } = await listening(t, 1);
  await (await open()).get();
  const probe = await open();
  const closed = once(probe.socket, 'close');
  assert.match(await probe.get('/livez'), /200 OK.*connection: close.*served \/livez/is);
  await closed;
});

test('connections: one above the bound that asks nothing is closed', async (t) => {
  const { open, refusals } = await listening(t, 1);
  await (await open()).get();
  const silent = await open();
  await once(silent.socket, 'close');
  assert.equal(refusals(), 1);
});
