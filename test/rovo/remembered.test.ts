import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remembered } from '../../adapters/rovo/remembered.ts';

test('remembered: each text is worked on once, also when the answer is that there is none', () => {
  const asked: string[] = [];
  const answer = remembered((text) => {
    asked.push(text);
    return text === '' ? undefined : text.length;
  });
  assert.deepEqual(['', 'abc', '', 'abc'].map(answer), [undefined, 3, undefined, 3]);
  assert.deepEqual(asked, ['', 'abc']);
});

test('remembered: what strangers make it keep is bounded, and its answers stay right', () => {
  let asked = 0;
  const answer = remembered((text) => {
    asked += 1;
    return text;
  });
  for (let n = 0; n < 5_000; n += 1) assert.equal(answer(`${n}`), `${n}`);
  assert.equal(asked, 5_000);
  // The newest is still known, the oldest is not.
  answer('4999');
  assert.equal(asked, 5_000);
  answer('0');
  assert.equal(asked, 5_001);
});
