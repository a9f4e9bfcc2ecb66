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

test('a listener of a stopper may stop listening while it is told', () => {
  const stopper = new Stopper<string>();
  const told: string[] = [];
  const again = () => {
    told.push('again');
    stopper.removeEventListener('abort', again);
  };
  stopper.addEventListener('abort', again);
  stopper.abort('one');
  assert.deepEqual(told, ['again']);
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
