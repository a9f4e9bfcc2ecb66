import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTimeOrderedIds } from '../../src/time-ordered-ids.ts';

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const NOW = Date.UTC(2026, 10, 30, 12);

function some(count: number, now: () => number): readonly string[] {
  const ids = createTimeOrderedIds(now);
  return Array.from({ length: count }, () => ids.next());
}

test('time-ordered ids: each is a UUID of version 7 with its millisecond', () => {
  for (const id of some(2_000, () => NOW)) {
    assert.match(id, UUID_7);
    assert.equal(Number.parseInt(id.replace('-', '').slice(0, 12), 16), NOW);
  }
});

test('time-ordered ids: they grow within a millisecond, over it, and when the clock is set back', () => {
  let at = NOW;
  let made = 0;
  const ids = some(50_000, () => {
    made += 1;
    if (made % 7 === 0) at += 1;
    if (made === 20_000) at -= 60_000;
    return at;
  });
  assert.deepEqual(ids, [...ids].sort());
  assert.equal(new Set(ids).size, ids.length);
});

test('time-ordered ids: two processes that start in one millisecond make others', () => {
  const ids = [...some(1_000, () => NOW), ...some(1_000, () => NOW)];
  assert.equal(new Set(ids).size, ids.length);
});
