import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { timeOrderedIds } from '../../src/system-clock.ts';

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function some(count: number): readonly string[] {
  return Array.from({ length: count }, () => timeOrderedIds.next());
}

function millisecondOf(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}

test('time-ordered ids: each is a UUID of version 7', () => {
  for (const id of some(2_000)) assert.match(id, UUID_7);
});

test('time-ordered ids: they hold their millisecond and grow within it, over it, and when the clock is set back', (t) => {
  const start = Date.now() + 60_000;
  let now = start;
  t.mock.method(Date, 'now', () => now);
  const ids = [...some(10_000)];
  assert.deepEqual(new Set(ids.map(millisecondOf)), new Set([start]));
  for (; now < start + 1_000; now += 1) ids.push(...some(7));
  now = start - 30_000;
  ids.push(...some(10_000));
  assert.deepEqual(ids, [...ids].sort());
  assert.equal(new Set(ids).size, ids.length);
});

test('time-ordered ids: two processes that start in one millisecond make others', () => {
  const source = new URL('../../src/system-clock.js', import.meta.url);
  const program = `
    Date.now = () => ${Date.UTC(2026, 10, 30, 12)};
    const { timeOrderedIds } = await import(${JSON.stringify(source)});
    console.log(JSON.stringify(Array.from({ length: 1_000 }, () => timeOrderedIds.next())));`;
  const ids = [program, program].flatMap((text): readonly string[] =>
    JSON.parse(execFileSync(process.execPath, ['--input-type=module', '--eval', text], { encoding: 'utf8' })),
  );
  assert.equal(ids.length, 2_000);
  assert.equal(new Set(ids).size, ids.length);
});
