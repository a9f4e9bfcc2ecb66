import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { ClientReadableStream } from '@grpc/grpc-js';
import type { Stop } from '../../core/ports/stop.ts';
import { until } from '../support/until.ts';
import { type FrameScript, frameScript } from './frame-script.ts';
import { assertEnded, CALLS, grpcClient, readAll } from './grpc.ts';
import { openGrpc, type RawGrpc } from './raw-grpc.ts';
import { send } from './rpc.ts';
import { framesOf, scriptedOperations, statusFrame, taskIn, textFrame } from './scripted-operations.ts';
import { edgeOf, PROFILE } from './serve.ts';
import { type GrpcServed, serveGrpc } from './serve-grpc.ts';

const FIRST = { sequence: 1, body: { task: taskIn('TASK_STATE_SUBMITTED') } } as const;

interface Opened {
  readonly served: GrpcServed;
  readonly script: FrameScript;
  /** Of the operation. */
  readonly signal: Stop;
}

/** A server whose streams a test feeds, with one stream that `start` has opened. */
async function feed(
  t: TestContext,
  start: (served: GrpcServed) => unknown,
  options: Parameters<typeof serveGrpc>[1] = {},
): Promise<Opened> {
  let opened: Omit<Opened, 'served'> | undefined;
  const operations = scriptedOperations({
    sendStreamingMessage: async (_edge, _incoming, signal) => {
      opened = { script: frameScript(signal), signal };
      return opened.script;
    },
  });
  const served = await serveGrpc(t, { operations, ...options });
  await start(served);
  const { script, signal } = await until('its first event is asked for', () =>
    opened?.script.pulled ? opened : false,
  );
  return { served, script, signal };
}

async function openStream(t: TestContext, options: Parameters<typeof serveGrpc>[1] = {}) {
  let call: ClientReadableStream<Buffer> | undefined;
  const opened = await feed(
    t,
    ({ address }) => {
      call = grpcClient(t, address).open('SendStreamingMessage', send());
    },
    options,
  );
  assert.ok(call);
  return { ...opened, call, reply: readAll('SendStreamingMessage', call) };
}

/** A reader that has asked for a stream and takes nothing of it. */
async function openUnread(t: TestContext, options: Parameters<typeof serveGrpc>[1] = {}) {
  let raw: RawGrpc | undefined;
  const opened = await feed(
    t,
    async ({ port }) => {
      raw = await openGrpc(t, port, 'SendStreamingMessage', {});
      raw.send(CALLS.SendStreamingMessage.encode(send()));
      raw.stream.end();
    },
    options,
  );
  assert.ok(raw);
  return { ...opened, raw };
}

async function endReason(served: GrpcServed): Promise<string | undefined> {
  const [end] = await until('the stream is counted', () => served.counts.get('a2a_stream_ends_total'));
  return end?.reason;
}

test('gRPC stream: an event goes out when it is there, and the end when it is over', async (t) => {
  const { served, script, call, reply } = await openStream(t);
  for (const frame of [FIRST, textFrame(2, 'x')]) {
    const data = once(call, 'data');
    script.push(frame);
    await data;
  }
  script.end();
  const { code, events } = await reply;
  assert.deepEqual([code, events.length], ['OK', 2]);
  assert.equal(await endReason(served), 'complete');
  assert.equal(served.clock.waiting(), 0, 'no timer is left');
});

test('gRPC stream: a quiet one says that it is open', async (t) => {
  const { served, script, call, reply } = await openStream(t);
  const opened = once(call, 'metadata');
  served.clock.advance(4_000);
  await opened;
  script.push(FIRST);
  script.end();
  assert.deepEqual([(await reply).code, (await reply).events.length], ['OK', 1]);
});

test('gRPC stream: a refusal after it said that it is open still has its details', async (t) => {
  const { served, script, call, reply } = await openStream(t);
  const opened = once(call, 'metadata');
  served.clock.advance(4_000);
  await opened;
  script.fail(new Error('secret'));
  assertEnded(await reply, 'INTERNAL', 'INTERNAL_ERROR');
});

test('gRPC stream: a client that cancels ends its reading, and nothing else', async (t) => {
  const { served, script, signal, call, reply } = await openStream(t);
  script.push(FIRST);
  await once(call, 'data');
  call.cancel();
  assert.equal((await reply).code, 'CANCELLED');
  assert.equal(await endReason(served), 'client-gone');
  assert.equal(signal.aborted, true);
  await until('the source is let go', () => script.returned);
  await until('no timer is left', () => served.clock.waiting() === 0);
  assert.deepEqual(served.events, []);
  assert.deepEqual(
    served.operations.calls.map(({ operation }) => operation),
    ['sendStreamingMessage'],
  );
});

test('gRPC stream: a connection that breaks ends it as well', async (t) => {
  const { served, script, raw } = await openUnread(t);
  raw.session.destroy();
  assert.equal(await endReason(served), 'client-gone');
  await until('the source is let go', () => script.returned);
});

test('gRPC: the deadline of a client ends its waiting, never the operation', async (t) => {
  let signal: Stop | undefined;
  const operations = scriptedOperations({
    sendMessage: (_edge, _incoming, _options, given) => {
      signal = given;
      return new Promise(() => {});
    },
    sendStreamingMessage: async (_edge, _incoming, given) => {
      signal = given;
      return frameScript(given);
    },
  });
  const served = await serveGrpc(t, { operations });
  const client = grpcClient(t, served.address);
  for (const operation of ['SendMessage', 'SendStreamingMessage'] as const) {
    const { code } = await client.ask(operation, send(), { deadline: Date.now() + 1_000 });
    assert.equal(code, 'DEADLINE_EXCEEDED');
    await until('the operation hears of it', () => signal?.aborted);
    signal = undefined;
  }
  assert.deepEqual(served.events, []);
});

test('gRPC stream: it ends with OK when our own deadline is there', async (t) => {
  const edge = edgeOf({ profile: { ...PROFILE, streamDeadlineMs: 60_000 } });
  const { served, script, call, reply } = await openStream(t, { edge });
  script.push(FIRST);
  await once(call, 'data');
  served.clock.advance(60_000);
  assert.equal((await reply).code, 'OK');
  assert.equal(await endReason(served), 'deadline');
});

test('gRPC stream: a stop of the service ends streams with OK, waits with what there is, and takes no new call', async (t) => {
  const { served, script, call, reply } = await openStream(t);
  script.push(FIRST);
  await once(call, 'data');
  served.server.refuse();
  script.push(textFrame(2, 'x'));
  await once(call, 'data');
  assert.equal((await grpcClient(t, served.address).ask('GetTask', { id: 't1' })).code, 'UNAVAILABLE');
  served.shutdown.abort();
  assert.deepEqual([(await reply).code, (await reply).events.length], ['OK', 2]);
  assert.equal(await endReason(served), 'shutdown');
  await served.server.close(10_000);
});

test('gRPC: a server that takes no new call still answers on a connection whose keep-alive is due', async (t) => {
  const socket = { keepAliveMs: 200 };
  const { served, script, call, reply } = await openStream(t, { socket });
  script.push(FIRST);
  await once(call, 'data');
  served.server.refuse();
  const later = await openGrpc(t, (await serveGrpc(t, { socket })).port, 'SendMessage', {});
  // The other connection is the older one: it would have been asked before.
  await once(later.session, 'ping');
  script.push(textFrame(2, 'x'));
  script.end();
  assert.deepEqual([(await reply).code, (await reply).events.length], ['OK', 2]);
});

test('gRPC: a server that closes cuts what does not end', async (t) => {
  // Nothing else closes it.
  const { served, raw } = await openUnread(t, { socket: { keepAliveMs: 3_600_000 } });
  await served.server.close(1);
  await until('the stream is broken off', () => raw.stream.destroyed);
});

test('gRPC stream: what a reader does not take is not read ahead, and it is cut when it takes nothing', async (t) => {
  const { served, script, raw } = await openUnread(t);
  const text = 'x'.repeat(50_000);
  for (let sequence = 2; sequence < 50; sequence += 1) script.push(textFrame(sequence, text));
  const before = await until('the reader has had enough', async () => {
    const { pulled } = script;
    for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
    return script.pulled === pulled && pulled > 1 ? pulled : undefined;
  });
  assert.ok(before < 8, `${before} events for a reader that takes none`);
  served.clock.advance(30_000);
  assert.equal(await endReason(served), 'slow-reader');
  await until('the stream is broken off', () => raw.rstCode !== undefined || raw.stream.destroyed);
  assert.deepEqual(
    served.events.map(({ level, name }) => [level, name]),
    [['warn', 'stream.cut']],
  );
  await until('the call is counted', () => served.counts.get('a2a_requests_total'));
  assert.equal(served.counts.get('a2a_requests_total')?.[0]?.outcome, 'slow-reader');
});

test('gRPC stream: the end of one whose reader takes nothing does not wait for ever either', async (t) => {
  const { served, script, raw } = await openUnread(t);
  script.push(textFrame(2, 'x'.repeat(60_000)));
  script.push(textFrame(3, 'x'.repeat(60_000)));
  await until('the reader has had enough', () => script.pulled >= 2);
  served.shutdown.abort();
  await until('the stream wants to end', () => served.clock.waiting() > 0);
  for (let times = 0; times < 3; times += 1) {
    served.clock.advance(30_000);
    for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
  }
  await until('the stream is broken off', () => raw.stream.destroyed || raw.rstCode !== undefined);
});

test('gRPC stream: a slow reader gets every event in the end', async (t) => {
  const { script, raw } = await openUnread(t);
  const text = 'x'.repeat(50_000);
  for (let sequence = 2; sequence < 50; sequence += 1) script.push(textFrame(sequence, text));
  script.push(statusFrame(50, 'TASK_STATE_COMPLETED'));
  script.end();
  let bytes = 0;
  raw.stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  assert.equal((await raw.ended()).code, 'OK');
  assert.ok(bytes > 48 * 50_000);
});

test('gRPC stream: two readers of one connection do not hold each other up', async (t) => {
  const scripts: FrameScript[] = [];
  const operations = scriptedOperations({
    sendStreamingMessage: async (_edge, _incoming, signal) => {
      const script = frameScript(signal);
      scripts.push(script);
      return script;
    },
  });
  const served = await serveGrpc(t, { operations });
  const client = grpcClient(t, served.address);
  const paused = client.open('SendStreamingMessage', send());
  paused.on('error', () => undefined);
  const slow = await until('the first is open', () => scripts[0]);
  for (let sequence = 2; sequence < 100; sequence += 1) slow.push(textFrame(sequence, 'x'.repeat(50_000)));
  const reading = client.open('SendStreamingMessage', send());
  const reply = readAll('SendStreamingMessage', reading);
  const quick = await until('the second is open', () => scripts[1]);
  for (let sequence = 2; sequence < 20; sequence += 1) quick.push(textFrame(sequence, 'y'.repeat(1_000)));
  quick.end();
  assert.deepEqual([(await reply).code, (await reply).events.length], ['OK', 18]);
  paused.cancel();
});

test('gRPC: a quiet connection is asked whether it is there, and closed when it is not', async (t) => {
  const socket = { keepAliveMs: 20, keepAliveTimeoutMs: 20 };
  const served = await serveGrpc(t, { socket });
  const there = await openGrpc(t, served.port, 'SendMessage', {});
  await once(there.session, 'ping');
  const silent = connect(served.port, '127.0.0.1');
  t.after(() => silent.destroy());
  // What begins a connection, empty settings; and no answer to anything.
  silent.write(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1'));
  silent.resume();
  await once(silent, 'close');
  assert.equal(there.session.destroyed, false);
});

test('gRPC: an answer far over the client’s own limit is the client’s refusal and not ours', async (t) => {
  const artifacts = Array.from({ length: 90 }, (_, index) => ({
    artifactId: `a${index}`,
    parts: [{ text: 'x'.repeat(50_000) }],
  }));
  const operations = scriptedOperations({ getTask: async () => taskIn('TASK_STATE_COMPLETED', { artifacts }) });
  const served = await serveGrpc(t, { operations });
  const reply = await grpcClient(t, served.address).ask('GetTask', { id: 't1' });
  assert.equal(reply.code, 'RESOURCE_EXHAUSTED');
  const [counted] = await until('the call is counted', () => served.counts.get('a2a_requests_total'));
  assert.equal(counted?.outcome, 'ok');
});

test('gRPC: events come in the order in which they happened, also when all are there at once', async (t) => {
  const frames = Array.from({ length: 500 }, (_, index) => textFrame(index + 1, `${index}`));
  const operations = scriptedOperations({ subscribeToTask: async () => framesOf(...frames) });
  const served = await serveGrpc(t, { operations });
  const { code, events } = await grpcClient(t, served.address).read('SubscribeToTask', { id: 't1' });
  assert.equal(code, 'OK');
  assert.deepEqual(
    events.map(({ artifactUpdate }) => artifactUpdate.artifact.parts[0].text),
    frames.map((_, index) => `${index}`),
  );
});
