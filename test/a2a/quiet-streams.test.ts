import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Context } from 'koa';
import type { Session } from '../../adapters/a2a/edge.ts';
import type { Incoming } from '../../core/ports/edge.ts';
import { type FrameScript, frameScript } from './frame-script.ts';
import { openRaw, type RawSocket, whole } from './raw-socket.ts';
import { rpc, send } from './rpc.ts';
import { scriptedOperations, taskIn } from './scripted-operations.ts';
import { edgeOf, OWNER, type Served, serve } from './serve.ts';

/*
 * What a stream holds while nothing happens. Thousands of them stand still at once, and whatever one of them keeps is kept
 * for up to an hour.
 */

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

interface Quiet {
  readonly served: Served;
  readonly scripts: readonly FrameScript[];
  readonly requests: readonly Context['req'][];
  /** Requests whose endpoint is done with them. */
  readonly answered: () => number;
  readonly kept: ReadonlyMap<string, WeakRef<object>>;
  open(): Promise<RawSocket>;
}

/** Opened streams have shown their task and wait for the next event. */
async function quiet(t: TestContext): Promise<Quiet> {
  const scripts: FrameScript[] = [];
  const requests: Context['req'][] = [];
  const kept = new Map<string, WeakRef<object>>();
  let answered = 0;
  const operations = scriptedOperations({
    sendStreamingMessage: async (_edge, incoming: Incoming, signal) => {
      kept.set('message', new WeakRef(incoming.message));
      kept.set('caller', new WeakRef(incoming.caller));
      const script = frameScript(signal);
      scripts.push(script);
      return script;
    },
  });
  const served = await serve(t, {
    operations,
    edge: edgeOf({
      authenticate: async () => {
        const session: Session = {
          caller: { owner: OWNER },
          tenant: 't1',
          prepare: ({ params }) => {
            kept.set('params', new WeakRef(params));
            return { params, deadlineMs: 86_400_000 };
          },
        };
        kept.set('session', new WeakRef(session));
        return session;
      },
    }),
    watch: (request, done) => {
      requests.push(request);
      void done.then(() => {
        answered += 1;
      });
    },
  });
  const open = async () => {
    const raw = await openRaw(t, served.port);
    const before = scripts.length;
    raw.socket.write(whole(rpc('SendStreamingMessage', send(), `r${before}`)));
    while (scripts.length === before) await new Promise(setImmediate);
    scripts[before]?.push({ sequence: 1, body: { task: taskIn('TASK_STATE_SUBMITTED') } });
    await raw.until(/id: 1\n/);
    while (scripts[before]?.pulled !== 2) await new Promise(setImmediate);
    return raw;
  };
  return { served, scripts, requests, kept, open, answered: () => answered };
}

test('quiet stream: whoever asked for it is done as soon as it is open, and its end is counted', async (t) => {
  const { served, scripts, answered, open } = await quiet(t);
  const raw = await open();
  while (answered() === 0) await new Promise(setImmediate);
  assert.equal(served.counts.has('a2a_requests_total'), false);
  scripts[0]?.end();
  await raw.until(/0\r\n\r\n$/);
  while (!served.counts.has('a2a_requests_total')) await new Promise(setImmediate);
  assert.deepEqual(served.counts.get('a2a_requests_total'), [
    { edge: 'test', method: 'SendStreamingMessage', outcome: 'complete' },
  ]);
});

test('quiet stream: all of them have one timer for their heartbeats', async (t) => {
  const { served, open } = await quiet(t);
  await open();
  // Its deadline, and the heartbeats.
  assert.equal(served.clock.waiting(), 2);
  await open();
  await open();
  assert.equal(served.clock.waiting(), 4);
});

test('quiet stream: streams of another age have a comment within every interval', async (t) => {
  const { served, open } = await quiet(t);
  const readers: RawSocket[] = [];
  for (let index = 0; index < 3; index += 1) {
    readers.push(await open());
    served.clock.advance(1_300);
  }
  for (const beats of [1, 2, 3]) {
    served.clock.advance(4_000);
    await Promise.all(readers.map((raw) => raw.until(new RegExp(`id: 1\\n(?:[\\s\\S]*\\n: \\n\\n){${beats}}`))));
  }
});

test('quiet stream: the last one that ends takes the timer along', async (t) => {
  const { served, scripts, open } = await quiet(t);
  const readers = [await open(), await open()];
  for (const script of scripts) script.end();
  await Promise.all(readers.map((raw) => raw.until(/0\r\n\r\n$/)));
  while (served.clock.waiting() > 0) await new Promise(setImmediate);
});

test('quiet stream: neither its message nor its caller is kept, nor the headers of its request', async (t) => {
  const { served, requests, kept, answered, open } = await quiet(t);
  await open();
  while (answered() === 0) await new Promise(setImmediate);
  // The double of core remembers what it was called with.
  served.operations.calls.length = 0;
  assert.deepEqual([...kept.keys()].sort(), ['caller', 'message', 'params', 'session']);
  await new Promise(setImmediate);
  collectGarbage();
  for (const [name, reference] of kept) assert.equal(reference.deref(), undefined, name);
  assert.deepEqual(
    requests.map(({ headers, rawHeaders }) => ({ headers, rawHeaders })),
    [{ headers: {}, rawHeaders: [] }],
  );
});
