import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gateOf, OWNER } from './serve.ts';

const ONE = { requests: 1, requestsPerPrincipal: 1, streams: 1, streamsPerPrincipal: 1, bodiesBytes: 10 };

test('load gate: a call that has left takes nothing any more, whatever it still asks for', () => {
  const counted: string[] = [];
  const gate = gateOf(ONE, (_metric, labels) => counted.push(labels?.limit ?? ''));
  const gone = gate.enter('test');
  gone.leave();
  gone.callerIs(OWNER);
  gone.holdBody(10);
  gone.becomeStream();
  gone.leave();
  const next = gate.enter('test');
  next.callerIs(OWNER);
  next.holdBody(10);
  next.becomeStream();
  // Nor is it refused: nobody is there to hear it.
  gone.callerIs(OWNER);
  gone.holdBody(10);
  gone.becomeStream();
  assert.deepEqual(counted, []);
});
