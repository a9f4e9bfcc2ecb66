import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '../support/until.ts';
import { CALLS, grpcClient } from './grpc.ts';
import { openGrpc } from './raw-grpc.ts';
import { scriptedOperations, taskIn } from './scripted-operations.ts';
import { gateOf } from './serve.ts';
import { serveGrpc } from './serve-grpc.ts';

/* What lies in memory because nobody takes it. */

/** More than a socket's own buffers. */
const LARGE = { history: [{ messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'x'.repeat(20_000_000) }] }] };
const operations = () =>
  scriptedOperations({ getTask: async (_caller, id) => taskIn('TASK_STATE_COMPLETED', id === 'large' ? LARGE : {}) });

/** One call over HTTP/2 whose client takes nothing of its answer. */
async function untaken(t: TestContext) {
  const gate = gateOf({ requests: 2 });
  const served = await serveGrpc(t, { gate, operations: operations() });
  const raw = await openGrpc(t, served.port, 'GetTask', {});
  raw.stream.pause();
  raw.send(CALLS.GetTask.encode({ id: 'large' }));
  raw.stream.end();
  // The timer of its message is gone by then, that of its answer is not.
  await until('its answer waits', () => served.operations.calls.length === 1 && served.clock.waiting() === 1);
  return { served, gate, raw };
}

test('answers over gRPC: one that is not taken keeps its place for two minutes, then its call is reset', async (t) => {
  const { served, gate, raw } = await untaken(t);
  const other = gate.enter('test');
  assert.throws(() => gate.enter('test'), { limit: 'requests' });
  served.clock.advance(119_999);
  assert.throws(() => gate.enter('test'), { limit: 'requests' });
  const closed = raw.ended();
  served.clock.advance(1);
  gate.enter('test').leave();
  other.leave();
  await closed;
  assert.equal(raw.rstCode, 11);
  assert.deepEqual(served.counts.get('a2a_requests_total'), [{ edge: 'test', method: 'GetTask', outcome: 'ok' }]);
});

test('answers over gRPC: one that is taken leaves nothing behind', async (t) => {
  const served = await serveGrpc(t, { gate: gateOf({ requests: 1 }) });
  const client = grpcClient(t, served.address);
  for (const id of ['t1', 't1', 't1']) assert.equal((await client.ask('GetTask', { id })).code, 'OK');
  await until('no timer waits', () => served.clock.waiting() === 0);
});
