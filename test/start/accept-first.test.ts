import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { acceptFirst } from '../../src/accept-first.ts';
import { until } from '../support/until.ts';

/** As many as are accepted in a row. */
const AT_ONCE = 8;

interface Log {
  /** `connection` and `request`, as they came to those who serve. */
  readonly log: string[];
  dial(): Socket;
}

async function logging(t: TestContext, answer: RequestListener): Promise<Log> {
  const log: string[] = [];
  const server: Server = createServer();
  server.on('connection', () => log.push('connection'));
  acceptFirst(server, (request, response) => {
    log.push('request');
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    log,
    dial() {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      t.after(() => socket.destroy());
      return socket;
    },
  };
}

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** Sends again as soon as it has an answer. */
function busy(socket: Socket): void {
  socket.write(GET);
  socket.on('data', () => socket.write(GET));
}

const count = (log: readonly string[], what: string) => log.filter((entry) => entry === what).length;

test('accept first: those who knock together are let in before the next request of busy callers', async (t) => {
  const { log, dial } = await logging(t, (_request, response) => response.end('served'));
  const callers = Array.from({ length: 5 }, dial);
  await until('the callers', () => count(log, 'connection') === callers.length);
  for (const socket of callers) busy(socket);
  await until('they are busy', () => count(log, 'request') > 20);
  log.length = 0;
  // The system has queued them all when this returns.
  for (let index = 0; index < AT_ONCE; index += 1) dial();
  await until('all of them', () => count(log, 'connection') === AT_ONCE);
  const between = log.slice(log.indexOf('connection'), log.lastIndexOf('connection'));
  assert.equal(count(between, 'request'), 0);
});

test('accept first: whoever connects on and on does not keep requests waiting', async (t) => {
  const { log, dial } = await logging(t, (_request, response) => response.end('served'));
  const caller = dial();
  await until('the caller', () => count(log, 'connection') === 1);
  log.length = 0;
  for (let index = 0; index < 10 * AT_ONCE; index += 1) dial();
  busy(caller);
  await until('all of them', () => count(log, 'connection') === 10 * AT_ONCE);
  const longest = Math.max(
    ...log
      .join(' ')
      .split('request')
      .map((run) => run.match(/connection/g)?.length ?? 0),
  );
  assert.ok(longest <= 2 * AT_ONCE, `${longest} connections in a row`);
});

test('accept first: requests that waited keep their order and are answered once', async (t) => {
  const asked: string[] = [];
  const { log, dial } = await logging(t, (request, response) => {
    asked.push(request.url ?? '');
    response.end('served');
  });
  const caller = dial();
  await until('the caller', () => count(log, 'connection') === 1);
  for (let index = 0; index < AT_ONCE; index += 1) dial();
  const paths = ['/1', '/2', '/3', '/4', '/5'];
  for (const path of paths) caller.write(GET.replace('/ ', `${path} `));
  await until('all requests', () => asked.length >= paths.length);
  assert.deepEqual(asked, paths);
});
