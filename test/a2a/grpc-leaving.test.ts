import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { test } from 'node:test';
import { createGate, until } from '../support/until.ts';
import { CALLS } from './grpc.ts';
import { openGrpc } from './raw-grpc.ts';
import { send } from './rpc.ts';
import { edgeOf, gateOf, OWNER } from './serve.ts';
import { serveGrpc } from './serve-grpc.ts';

const PER_CALLER = 2;

test('gRPC: calls that are canceled while it is asked who calls leave their places, and no line of the log', async (t) => {
  const known = createGate();
  const gate = gateOf({ requestsPerPrincipal: PER_CALLER });
  let asked = 0;
  const edge = edgeOf({
    authenticate: async () => {
      asked += 1;
      await known.opened;
      return { caller: { owner: OWNER }, tenant: 't1', prepare: ({ params }) => ({ params, deadlineMs: 86_400_000 }) };
    },
  });
  const served = await serveGrpc(t, { gate, edge });
  const count = 3 * PER_CALLER;
  for (let n = 1; n <= count; n += 1) {
    const call = await openGrpc(t, served.port, n % 2 === 0 ? 'SendMessage' : 'SendStreamingMessage', {});
    call.send(CALLS.SendMessage.encode(send()));
    await until('it is asked who calls', () => asked === n);
    call.stream.close(constants.NGHTTP2_CANCEL);
  }
  await until('all of them are over', () => served.counts.get('a2a_requests_total')?.length === count);
  known.open();
  await known.opened;
  await new Promise(setImmediate);
  for (let n = 0; n < PER_CALLER; n += 1) gate.enter('test').callerIs(OWNER);
  assert.throws(() => gate.enter('test').callerIs(OWNER), { limit: 'requests-per-principal' });
  assert.deepEqual(served.operations.calls, []);
  assert.deepEqual(served.events, []);
  assert.equal(served.clock.waiting(), count);
  served.clock.advance(2_000);
  assert.equal(served.clock.waiting(), 0);
});
