import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Stopper, StopSignal } from '../../core/runtime/stopper.ts';

test('a stopper tells each listener once, and keeps its first reason', () => {
  const stopper = new Stopper<string>();
  const told: string[] = [];
  const left = () => told.push('left');
  stopper.addEventListener('abort', () => told.push('first'));
  stopper.addEventListener('abort', left);
  stopper.addEventListener('abort', () => told.push('last'));
  stopper.removeEventListener('abort', left);
  assert.equal(stopper.listening, 2);
  assert.equal(stopper.aborted, false);
  stopper.abort('one');
  stopper.abort('two');
  stopper.addEventListener('abort', () => told.push('late'));
  assert.deepEqual(told, ['first', 'last']);
  assert.equal(stopper.reason, 'one');
  assert.equal(stopper.aborted, true);
  assert.equal(stopper.listening, 0);
});

test('a listener of a stopper that is taken back while others are told is not told', () => {
  const stopper = new Stopper<string>();
  const told: string[] = [];
  const second = () => told.push('second');
  const first = () => {
    told.push('first');
    stopper.removeEventListener('abort', first);
    stopper.removeEventListener('abort', second);
  };
  for (const listener of [first, second, () => told.push('third')]) stopper.addEventListener('abort', listener);
  stopper.abort('one');
  assert.deepEqual(told, ['first', 'third']);
});

test('the signal of a stop signal is aborted with it, whichever was first', () => {
  const early = new StopSignal<string>();
  const { signal } = early;
  early.abort('one');
  early.abort('two');
  assert.equal(signal.aborted, true);
  assert.equal(signal.reason, 'one');
  const late = new StopSignal<string>();
  late.abort('one');
  assert.equal(late.signal.reason, 'one');
});
