import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from '../../core/registry.ts';

test('a registry gives each member a key of its own, and a member leaves once', () => {
  const registry = new Registry<string>();
  const [a, b] = [registry.add('a'), registry.add('b')];
  assert.notEqual(a, b);
  assert.deepEqual([...registry.values()], ['a', 'b']);
  assert.equal(registry.size, 2);
  assert.equal(registry.take(a), 'a');
  assert.equal(registry.take(a), undefined);
  assert.equal(registry.has(a), false);
  assert.equal(registry.has(b), true);
  assert.equal(registry.size, 1);
  const c = registry.add('c');
  assert.ok(c !== a && c !== b);
  assert.deepEqual([...registry.values()], ['b', 'c']);
});

test('members of a registry may leave and come while it is gone through', () => {
  const registry = new Registry<string>();
  const keys = ['a', 'b', 'c'].map((name) => registry.add(name));
  const seen: string[] = [];
  for (const name of registry.values()) {
    seen.push(name);
    if (name === 'a') {
      registry.take(keys[1] ?? 0);
      registry.add('d');
    }
  }
  assert.deepEqual(seen, ['a', 'c', 'd']);
});
