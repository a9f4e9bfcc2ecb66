import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError } from '../../core/errors.ts';
import type { Frame } from '../../core/operations/operations.ts';
import type { Stop } from '../../core/ports/stop.ts';
import { type FrameScript, frameScript, listening } from './frame-script.ts';
import { head, openRaw, type RawSocket, whole } from './raw-socket.ts';
import { assertRefused, call, rpc, send } from './rpc.ts';
import { framesOf, scriptedOperations, statusFrame, taskIn, textFrame } from './scripted-operations.ts';
import { edgeOf, PROFILE, type Served, serve } from './serve.ts';

const FIRST: Frame = { sequence: 1, body: { task: taskIn('TASK_STATE_SUBMITTED') } };

interface Event {
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: golden tests read whatever came over the wire
  readonly data: any;
}

/** Reads the events strictly: comments, and blocks of at most one id line and exactly one data line. */
function eventsOf(text: string): readonly Event[] {
  assert.ok(text.endsWith('\n\n'), 'half a frame');
  return text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const [, id, json] = /^(?:id: (\d+)\n)?data: (.*)$/.exec(block) ?? [];
      assert.ok(json !== undefined, `no event: ${block}`);
      return { id, data: JSON.parse(json) };
    });
}

/** Why the one stream of this server ended. */
async function endOf(served: Served): Promise<string | undefined> {
  while (!served.counts.has('a2a_stream_ends_total')) await new Promise(setImmediate);
  const [ends = {}] = served.counts.get('a2a_stream_ends_total') ?? [];
  return ends.reason;
}

async function openStream(
  t: import('node:test').TestContext,
  options: Parameters<typeof serve>[1] = {},
): Promise<{ served: Served; raw: RawSocket; script: FrameScript; signal: Stop }> {
  let opened: { script: FrameScript; signal: Stop } | undefined;
  const operations = scriptedOperations({
    sendStreamingMessage: async (_edge, _incoming, signal) => {
      opened = { script: frameScript(signal), signal };
      return opened.script;
    },
  });
  const served = await serve(t, { operations, ...options });
  const raw = await openRaw(t, served.port);
  raw.socket.write(whole(rpc('SendStreamingMessage', send(), 'r1')));
  while (opened === undefined || opened.script.pulled === 0) await new Promise(setImmediate);
  return { served, raw, ...opened };
}

test('stream: every event is one data line with the envelope and the id of its sequence [3.1.2-opens]', async (t) => {
  const frames = [FIRST, textFrame(2, 'a\r\nb'), statusFrame(3, 'TASK_STATE_COMPLETED')];
  const served = await serve(t, {
    operations: scriptedOperations({ sendStreamingMessage: async () => framesOf(...frames) }),
  });
  const answer = await call(served, 'SendStreamingMessage', send());
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/event-stream');
  assert.equal(answer.headers.get('cache-control'), 'no-cache, no-transform');
  assert.equal(answer.headers.get('x-accel-buffering'), 'no');
  assert.equal(answer.headers.get('content-encoding'), null);
  assert.deepEqual(
    eventsOf(answer.text),
    frames.map(({ sequence, body }) => ({ id: String(sequence), data: { jsonrpc: '2.0', id: 1, result: body } })),
  );
});

test('stream: a frame without a sequence has no id, and does not take over the one before it', async (t) => {
  const snapshot: Frame = { body: { task: taskIn('TASK_STATE_WORKING') } };
  const operations = scriptedOperations({
    subscribeToTask: async () => framesOf(snapshot, textFrame(7, 'x'), { body: textFrame(0, 'y').body }),
  });
  const answer = await call(await serve(t, { operations }), 'SubscribeToTask', { id: 't1' });
  assert.deepEqual(
    eventsOf(answer.text).map(({ id }) => id),
    [undefined, '7', undefined],
  );
});

test('stream: line breaks of Unicode are escaped and read back', async (t) => {
  const text = 'a\u2028b\u2029c\u0085d';
  const operations = scriptedOperations({ sendStreamingMessage: async () => framesOf(textFrame(1, text)) });
  const answer = await call(await serve(t, { operations }), 'SendStreamingMessage', send());
  assert.ok(answer.text.includes('a\\u2028b\\u2029c\\u0085d'));
  assert.doesNotMatch(answer.text, /[\u2028\u2029\u0085\r]/);
  assert.equal(eventsOf(answer.text)[0]?.data.result.artifactUpdate.artifact.parts[0].text, text);
});

test('stream: a Message is the whole stream [3.1.2-message]', async (t) => {
  const message = { messageId: 'r1', taskId: 't1', role: 'ROLE_AGENT', parts: [{ text: 'hello' }] } as const;
  const operations = scriptedOperations({
    sendStreamingMessage: async () => framesOf({ sequence: 3, body: { message } }, statusFrame(4, 'TASK_STATE_FAILED')),
  });
  const answer = await call(await serve(t, { operations }), 'SendStreamingMessage', send());
  assert.deepEqual(eventsOf(answer.text), [{ id: '3', data: { jsonrpc: '2.0', id: 1, result: { message } } }]);
});

test('stream: what is refused before the first event is plain JSON', async (t) => {
  const operations = scriptedOperations({
    sendStreamingMessage: () => Promise.reject(new DomainError('UNSUPPORTED_OPERATION', 'The task has ended')),
  });
  const served = await serve(t, { operations });
  assertRefused(await call(served, 'SendStreamingMessage', send()), -32004);
  assertRefused(await call(served, 'SubscribeToTask', { id: 'nope' }), -32001);
});

test('stream: a comment opens a stream that has nothing to say yet, and keeps it open', async (t) => {
  const { served, raw, script } = await openStream(t);
  served.clock.advance(3_999);
  assert.equal(raw.received(), '');
  served.clock.advance(1);
  await raw.until(/: \n\n/);
  for (const beats of [2, 3]) {
    served.clock.advance(4_000);
    await raw.until(new RegExp(`(: \\n\\n[\\s\\S]*){${beats}}`));
  }
  script.push(FIRST);
  await raw.until(/id: 1\ndata: \{"jsonrpc":"2\.0","id":"r1","result":\{"task"/);
  served.clock.advance(4_000);
  await raw.until(/id: 1[\s\S]*\n: \n\n/);
  script.end();
  await raw.until(/0\r\n\r\n$/);
});

test('stream: a refusal that comes after the stream was opened is its only event', async (t) => {
  const { served, raw, script } = await openStream(t);
  served.clock.advance(5_000);
  await raw.until(/: \n\n/);
  script.fail(new DomainError('STORE_UNAVAILABLE', 'The store does not answer'));
  const text = await raw.until(/0\r\n\r\n$/);
  assert.match(
    text,
    /data: \{"jsonrpc":"2\.0","id":"r1","error":\{"code":-32603,"message":"The store does not answer"/,
  );
});

test('stream: a fault in the middle is one error event with a fixed text and a clean end', async (t) => {
  const operations = scriptedOperations({
    sendStreamingMessage: async () =>
      (async function* () {
        yield FIRST;
        throw new Error('secret at /srv/x');
      })(),
  });
  const served = await serve(t, { operations });
  const answer = await call(served, 'SendStreamingMessage', send());
  const events = eventsOf(answer.text);
  assert.deepEqual(
    events.map(({ id }) => id),
    ['1', undefined],
  );
  assert.equal(events[1]?.data.id, 1);
  assert.equal(events[1]?.data.error.code, -32603);
  assert.equal(events[1]?.data.error.message, 'Internal error');
  assert.doesNotMatch(answer.text, /secret/);
  assert.equal(served.events[0]?.name, 'request.failed');
});

test('stream: a line that the strictest client would drop is never written', async (t) => {
  const fits = 65_535 - `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: textFrame(1, '').body })}`.length;
  const operations = scriptedOperations({
    sendStreamingMessage: async () => framesOf(textFrame(1, 'x'.repeat(fits)), textFrame(2, 'x'.repeat(fits + 1))),
  });
  const served = await serve(t, { operations });
  const answer = await call(served, 'SendStreamingMessage', send());
  const lines = answer.text.split('\n').filter((line) => line.startsWith('data:'));
  assert.equal(lines[0]?.length, 65_535);
  assert.equal(JSON.parse(lines[1]?.slice(6) ?? '').error.code, -32603);
  assert.match(String(served.events[0]?.error), /an event of 65536 characters/);
});

test('stream: listeners do not pile up with its events', async (t) => {
  const { raw, script, signal } = await openStream(t);
  for (let sequence = 1; sequence <= 100; sequence += 1) script.push(textFrame(sequence, 'x'));
  await raw.until(/id: 100\n/);
  assert.ok(listening(signal) < 5);
});

test('stream: a client that leaves aborts the signal and returns the frames, nothing else', async (t) => {
  const { served, raw, script, signal } = await openStream(t);
  script.push(FIRST);
  await raw.until(/id: 1/);
  raw.socket.destroy();
  while (!signal.aborted || !script.returned) await new Promise(setImmediate);
  assert.deepEqual(served.events, []);
  assert.deepEqual(
    served.operations.calls.map(({ operation }) => operation),
    ['sendStreamingMessage'],
  );
  while (served.clock.waiting() > 0) await new Promise(setImmediate);
  assert.deepEqual(await endOf(served), 'client-gone');
});

for (const [name, reason, finish] of [
  ['its deadline', 'deadline', (served: Served) => served.clock.advance(PROFILE.streamDeadlineMs)],
  ['a shutdown', 'shutdown', (served: Served) => served.shutdown.abort()],
] as const) {
  test(`stream: ${name} ends it cleanly between two events`, async (t) => {
    const { served, raw, script, signal } = await openStream(t);
    script.push(FIRST);
    await raw.until(/id: 1/);
    finish(served);
    const text = await raw.until(/0\r\n\r\n$/);
    assert.ok(signal.aborted);
    assert.doesNotMatch(text, /error/);
    assert.equal(text.match(/data: /g)?.length, 1);
    while (!script.returned) await new Promise(setImmediate);
    assert.equal(await endOf(served), reason);
  });
}

test('stream: the deadline counts from the headers of the request, not from its body or the first event', async (t) => {
  const edge = edgeOf({ profile: { ...PROFILE, streamDeadlineMs: 20_000 } });
  const script = frameScript();
  const served = await serve(t, { edge, operations: scriptedOperations({ sendStreamingMessage: async () => script }) });
  const raw = await openRaw(t, served.port);
  const body = rpc('SendStreamingMessage', send());
  raw.socket.write(head([`Content-Length: ${body.length}`]));
  while (served.clock.waiting() === 0) await new Promise(setImmediate);
  served.clock.advance(15_000);
  raw.socket.write(body);
  script.push(FIRST);
  await raw.until(/id: 1/);
  served.clock.advance(5_000);
  await raw.until(/0\r\n\r\n$/);
  assert.equal(await endOf(served), 'deadline');
});

test('stream: a shutdown before the first event ends it as a stream without events', async (t) => {
  const { served, raw } = await openStream(t);
  served.shutdown.abort();
  assert.match(await raw.until(/0\r\n\r\n$/), /^HTTP\/1\.1 200 [\s\S]*text\/event-stream/);
});

test('stream: a reader that takes nothing is cut, and its frames are not read ahead', async (t) => {
  const { served, raw, script } = await openStream(t);
  raw.socket.pause();
  for (let sequence = 1; sequence <= 1_000; sequence += 1) script.push(textFrame(sequence, 'x'.repeat(60_000)));
  const before = process.memoryUsage().arrayBuffers;
  let pulled = -1;
  while (pulled !== script.pulled) {
    pulled = script.pulled;
    // Not a wait for time to pass: the kernel's buffers fill over a few turns of the loop.
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  }
  assert.ok(pulled < 1_000, 'everything was read although nobody took it');
  assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1_024 * 1_024);
  served.clock.advance(30_000);
  while (!script.returned) await new Promise(setImmediate);
  assert.deepEqual(
    served.events.map(({ name }) => name),
    ['stream.cut'],
  );
  assert.equal(await endOf(served), 'slow-reader');
  raw.socket.resume();
  await raw.closed();
  assert.doesNotMatch(raw.received(), /0\r\n\r\n$/);
});

test('stream: its deadline ends it also for a reader that takes nothing', async (t) => {
  const edge = edgeOf({ profile: { ...PROFILE, streamDeadlineMs: 40_000 } });
  const { served, raw, script } = await openStream(t, { edge });
  raw.socket.pause();
  served.clock.advance(20_000);
  for (let sequence = 1; sequence <= 1_000; sequence += 1) script.push(textFrame(sequence, 'x'.repeat(60_000)));
  let pulled = -1;
  while (pulled !== script.pulled) {
    pulled = script.pulled;
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  }
  served.clock.advance(20_000);
  while (!script.returned) await new Promise(setImmediate);
  served.clock.advance(2_000);
  assert.equal(await endOf(served), 'deadline');
  raw.socket.resume();
  await raw.closed();
});

test('stream: a slow reader that goes on in time gets every event', async (t) => {
  const { raw, script, served } = await openStream(t);
  raw.socket.pause();
  for (let sequence = 1; sequence <= 300; sequence += 1) script.push(textFrame(sequence, 'x'.repeat(60_000)));
  script.end();
  for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
  served.clock.advance(20_000);
  raw.socket.resume();
  const text = await raw.until(/0\r\n\r\n$/);
  const ids = [...text.matchAll(/id: (\d+)\n/g)].map(([, id]) => Number(id));
  assert.deepEqual(
    ids,
    Array.from({ length: 300 }, (_, index) => index + 1),
  );
});

const RESUMED: readonly (readonly [string, boolean, number | undefined])[] = [
  ['12', true, 12],
  ['12', false, undefined],
  ['0', true, undefined],
  ['012', true, undefined],
  ['-1', true, undefined],
  ['1.5', true, undefined],
  ['12, 13', true, undefined],
  ['99999999999999999999', true, undefined],
  ['abc', true, undefined],
];
for (const [header, lastEventId, after] of RESUMED) {
  test(`SubscribeToTask: Last-Event-ID ${header} ${lastEventId ? 'on' : 'off'} resumes after ${after ?? 'nothing'}`, async (t) => {
    const operations = scriptedOperations({ subscribeToTask: async () => framesOf(FIRST) });
    const edge = edgeOf({ profile: { ...PROFILE, lastEventId } });
    const served = await serve(t, { operations, edge });
    await call(served, 'SubscribeToTask', { id: 't1' }, { headers: { 'Last-Event-ID': header } });
    const [profile, , subscription] = served.operations.callsOf('subscribeToTask')[0] ?? [];
    assert.equal(profile, edge.profile);
    assert.deepEqual(subscription, after === undefined ? { taskId: 't1' } : { taskId: 't1', after });
  });
}

test('stream: two readers see the same ids in the same order, and one that leaves does not disturb the other [3.5.2-independent]', async (t) => {
  const scripts: FrameScript[] = [];
  const operations = scriptedOperations({
    subscribeToTask: async (_edge, _caller, _subscription, signal) => {
      const script = frameScript(signal);
      scripts.push(script);
      return script;
    },
  });
  const served = await serve(t, { operations });
  const readers: RawSocket[] = [];
  for (let index = 0; index < 2; index += 1) {
    const raw = await openRaw(t, served.port);
    const body = rpc('SubscribeToTask', { id: 't1' });
    raw.socket.write(head([`Content-Length: ${body.length}`]) + body);
    readers.push(raw);
  }
  while (scripts.length < 2) await new Promise(setImmediate);
  for (const script of scripts) script.push(FIRST);
  await Promise.all(readers.map((raw) => raw.until(/id: 1\n/)));
  readers[0]?.socket.destroy();
  while (!scripts.some((script) => script.returned)) await new Promise(setImmediate);
  for (const script of scripts) script.push(textFrame(2, 'on'));
  await readers[1]?.until(/id: 1\n[\s\S]*id: 2\n/);
});
