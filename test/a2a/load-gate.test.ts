import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gateOf, OWNER } from './serve.ts';

const ONE = { requests: 1, requestsPerPrincipal: 1, streams: 1, streamsPerPrincipal: 1, bodiesBytes: 10 };

test('load gate: a call that has left takes nothing any more, whatever it still asks for', () => {
  const counted: string[] = [];
  const gate = gateOf({ ...ONE, answersBytes: 100_000 }, (_metric, labels) => counted.push(labels?.limit ?? ''));
  const gone = gate.enter('test');
  gone.leave();
  gone.callerIs(OWNER);
  gone.holdBody(10);
  gone.holdAnswer(100_000);
  gone.becomeStream();
  gone.leave();
  const next = gate.enter('test');
  next.callerIs(OWNER);
  next.holdBody(10);
  next.holdAnswer(100_000);
  next.becomeStream();
  // Nor is it refused: nobody is there to hear it.
  gone.callerIs(OWNER);
  gone.holdBody(10);
  gone.holdAnswer(100_000);
  gone.becomeStream();
  assert.deepEqual(counted, []);
});

test('load gate: answers that nobody takes have a bound together; one alone and small ones always fit', () => {
  const gate = gateOf({ answersBytes: 200_000 });
  const alone = gate.enter('test');
  alone.holdAnswer(1_000_000);
  const other = gate.enter('test');
  assert.throws(() => other.holdAnswer(100_000), { code: 'OVERLOADED', limit: 'answers', retryAfterMs: 5_000 });
  other.holdAnswer(60_000);
  alone.leave();
  other.holdAnswer(100_000);
  gate.enter('test').holdAnswer(100_000);
  assert.throws(() => gate.enter('test').holdAnswer(100_000), { code: 'OVERLOADED', limit: 'answers' });
  other.leave();
  gate.enter('test').holdAnswer(100_000);
});
