import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Session } from '../../adapters/a2a/edge.ts';
import { DomainError } from '../../core/errors.ts';
import type { Stop } from '../../core/ports/stop.ts';
import { until } from '../support/until.ts';
import { frameScript } from './frame-script.ts';
import { openRaw, whole } from './raw-socket.ts';
import { call, rpc, send } from './rpc.ts';
import { scriptedOperations, taskIn } from './scripted-operations.ts';
import { edgeOf, gateOf, OWNER, serve } from './serve.ts';

/* Requests that a client sends before it has the answer to the first: their answers wait for their turn. */

const QUEUED = 20;
const LIMITS = { requests: QUEUED + 1, requestsPerPrincipal: QUEUED + 1, streams: QUEUED, streamsPerPrincipal: QUEUED };
const NOBODY = ['x-who: nobody'];

/** A server whose SendMessage never answers, and that knows whoever is not nobody. */
async function busy(t: TestContext) {
  const signals: Stop[] = [];
  const gate = gateOf(LIMITS);
  const operations = scriptedOperations({
    sendMessage: (_edge, _incoming, _options, signal) => {
      signals.push(signal);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('over'))));
    },
    sendStreamingMessage: async (_edge, _incoming, signal) => {
      signals.push(signal);
      const script = frameScript(signal);
      script.push({ sequence: 1, body: { task: taskIn('TASK_STATE_WORKING') } });
      return script;
    },
  });
  const edge = edgeOf({
    authenticate: async (headers): Promise<Session> => {
      if (headers['x-who'] === 'nobody') throw new DomainError('UNAUTHENTICATED', 'Nobody comes in');
      return { caller: { owner: OWNER }, tenant: 't1', prepare: ({ params }) => ({ params, deadlineMs: 86_400_000 }) };
    },
  });
  const served = await serve(t, { edge, gate, operations });

  /** As many places as there are, all at once. */
  function free(): boolean {
    const places = [];
    try {
      for (let n = 0; n < LIMITS.requests; n += 1) {
        const place = gate.enter('test');
        places.push(place);
        place.callerIs(OWNER);
        if (n < LIMITS.streams) place.becomeStream();
      }
      return true;
    } catch {
      return false;
    } finally {
      for (const place of places) place.leave();
    }
  }

  /** One that waits, and these behind it. */
  async function pipelined(requests: string) {
    const raw = await openRaw(t, served.port);
    raw.socket.write(whole(rpc('SendMessage', send())) + requests);
    return raw;
  }
  return { served, signals, free, pipelined };
}

const answered = (counts: ReadonlyMap<string, readonly unknown[]>, count: number) =>
  until('those behind are answered', () => (counts.get('a2a_requests_total') ?? []).length >= count);

const KINDS = {
  answers: whole(rpc('GetTask', { id: 't1' })),
  refusals: whole(rpc('GetTask', { id: 't1' }), NOBODY),
} as const;
for (const [kind, request] of Object.entries(KINDS)) {
  test(`pipelined ${kind}: a connection that breaks gives all of their places back, one that is quiet after two minutes`, async (t) => {
    const { served, signals, free, pipelined } = await busy(t);
    const raw = await pipelined(request.repeat(QUEUED));
    await answered(served.counts, QUEUED);
    assert.equal(free(), false);
    raw.socket.resetAndDestroy();
    await until('all places are free', free);
    assert.equal(signals[0]?.aborted, true);

    const quiet = await pipelined(request.repeat(QUEUED));
    await answered(served.counts, 2 * QUEUED + 1);
    served.clock.advance(120_000);
    await quiet.closed();
    await until('all places are free', free);
    assert.equal(served.clock.waiting(), 0);
  });
}

test('pipelined streams: a connection that breaks ends them and gives their places back', async (t) => {
  const { served, signals, free, pipelined } = await busy(t);
  const raw = await pipelined(whole(rpc('SendStreamingMessage', send())).repeat(QUEUED));
  await until('all of them are open', () => signals.length === QUEUED + 1);
  raw.socket.resetAndDestroy();
  await until('all places are free', free);
  await until('all are over', () => (served.counts.get('a2a_stream_ends_total') ?? []).length === QUEUED);
  assert.ok(served.counts.get('a2a_stream_ends_total')?.every(({ reason }) => reason === 'client-gone'));
  assert.equal(served.clock.waiting(), 0);
});

test('pipelined waits: a connection that breaks ends those behind the first as well', async (t) => {
  const { signals, free, pipelined } = await busy(t);
  const raw = await pipelined(whole(rpc('SendMessage', send())).repeat(QUEUED));
  await until('all of them wait', () => signals.length === QUEUED + 1);
  raw.socket.resetAndDestroy();
  await until('all places are free', free);
  assert.ok(signals.every(({ aborted }) => aborted));
});

test('pipelined: answers come in the order of their requests and each place is free afterwards', async (t) => {
  const { served, free } = await busy(t);
  const warned: Error[] = [];
  const warn = (warning: Error) => warned.push(warning);
  process.on('warning', warn);
  t.after(() => process.off('warning', warn));
  const raw = await openRaw(t, served.port);
  const ids = Array.from({ length: QUEUED }, (_, index) => `n${index}`);
  raw.socket.write(ids.map((id) => whole(rpc('GetTask', { id: 't1' }, id))).join(''));
  const text = await raw.until(/"id":"n19"/);
  assert.deepEqual(
    Array.from(text.matchAll(/"id":"(n\d+)"/g), ([, id]) => id),
    ids,
  );
  await until('all places are free', free);
  assert.equal((await call(served, 'GetTask', { id: 't1' })).json.result.id, 't1');
  assert.deepEqual(warned, []);
});
