import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Frame, FrameStream } from '../../core/operations/operations.ts';
import { openRaw, whole } from './raw-socket.ts';
import { rpc, send } from './rpc.ts';
import { scriptedOperations, statusFrame, taskIn, textFrame } from './scripted-operations.ts';
import { type Served, serve } from './serve.ts';

/* Frames that need not be waited for, as those of one commit or of one page of the store. */

interface Gathered extends FrameStream {
  /** How many were taken. */
  readonly taken: number;
}

/** The first has to be asked for, the others are there with it; then the end, unless it stays open. */
function gathered(frames: readonly Frame[], { open = false } = {}): Gathered {
  const left = [...frames];
  const take = (): Frame | undefined => left.shift();
  return {
    get taken() {
      return frames.length - left.length;
    },
    [Symbol.asyncIterator]: () => ({
      next: () => {
        const value = take();
        if (value !== undefined) return Promise.resolve({ done: false, value });
        return open ? new Promise(() => {}) : Promise.resolve({ done: true, value: undefined });
      },
      ready: () => take() ?? (open ? undefined : 'over'),
    }),
  };
}

const FIRST: Frame = { sequence: 1, body: { task: taskIn('TASK_STATE_SUBMITTED') } };
const idsIn = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

async function endOf({ counts }: Served): Promise<string | undefined> {
  while (!counts.has('a2a_stream_ends_total')) await new Promise(setImmediate);
  return counts.get('a2a_stream_ends_total')?.[0]?.['reason'];
}

async function opened(t: Parameters<typeof serve>[0], stream: FrameStream) {
  const operations = scriptedOperations({ sendStreamingMessage: async () => stream });
  const served = await serve(t, { operations });
  const raw = await openRaw(t, served.port);
  raw.socket.write(whole(rpc('SendStreamingMessage', send(), 'r1')));
  return { served, raw };
}

test('gathered frames: a stream that is over before it is open says how long it is, and is one write', async (t) => {
  const { served, raw } = await opened(t, gathered([FIRST, textFrame(2, 'ü'), statusFrame(3, 'TASK_STATE_COMPLETED')]));
  const text = await raw.until(/id: 3\n.*\n\n$/);
  assert.deepEqual(idsIn(text), [1, 2, 3]);
  const [head = '', body = ''] = text.split('\r\n\r\n');
  assert.match(head, /\r\ncontent-type: text\/event-stream\r\n/i);
  assert.match(head, new RegExp(`\r\ncontent-length: ${Buffer.byteLength(body)}(\r\n|$)`, 'i'));
  assert.equal(body.split('\n\n').length, 4);
  // The connection is good for the next call.
  raw.socket.write(whole(rpc('GetTask', { id: 't1' }, 'r2')));
  await raw.until(/"id":"r2"/);
  assert.equal(await endOf(served), 'complete');
});

test('gathered frames: those that come later follow in chunks', async (t) => {
  const { raw } = await opened(t, gathered([FIRST, statusFrame(2, 'TASK_STATE_WORKING')], { open: true }));
  const text = await raw.until(/id: 2\n.*\n\n/);
  assert.match(text, /\r\ntransfer-encoding: chunked\r\n/i);
  assert.deepEqual(idsIn(text), [1, 2]);
});

test('gathered frames: a Message among them is the last', async (t) => {
  const message = { messageId: 'm1', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } as const;
  const { raw } = await opened(t, gathered([FIRST, { sequence: 2, body: { message } }, textFrame(3, 'x')]));
  const text = await raw.until(/id: 2\n.*\n\n$/);
  assert.deepEqual(idsIn(text), [1, 2]);
});

test('gathered frames: one that no client could read ends the stream behind those before it', async (t) => {
  const { served, raw } = await opened(t, gathered([FIRST, textFrame(2, 'x'.repeat(70_000)), textFrame(3, 'y')]));
  const text = await raw.until(/"error":[\s\S]*0\r\n\r\n$/);
  assert.deepEqual(idsIn(text), [1]);
  assert.doesNotMatch(text, /xxx|"y"/);
  assert.equal(await endOf(served), 'failed');
});

test('gathered frames: no more is taken than a slow reader has room for', async (t) => {
  const stream = gathered(Array.from({ length: 300 }, (_, index) => textFrame(index + 1, 'x'.repeat(60_000))));
  const { raw } = await opened(t, stream);
  raw.socket.pause();
  let taken = -1;
  while (taken !== stream.taken) {
    taken = stream.taken;
    // Not a wait for time to pass: the kernel's buffers fill over a few turns of the loop.
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  }
  assert.ok(taken < 300, 'everything was taken although nobody read it');
  raw.socket.resume();
  await raw.until(/0\r\n\r\n$/);
  assert.deepEqual(
    idsIn(raw.received()),
    Array.from({ length: 300 }, (_, index) => index + 1),
  );
});
