import assert from 'node:assert/strict';
import { test } from 'node:test';
import { targetOf } from '../../adapters/a2a/request-target.ts';

const TARGETS: readonly (readonly [string, string, string])[] = [
  ['/a2a', '/a2a', ''],
  ['/a2a?', '/a2a', ''],
  ['/a2a?A2A-Version=1.0&x=?', '/a2a', 'A2A-Version=1.0&x=?'],
  ['/a2a#part?x', '/a2a', ''],
  ['/a2a?x#part', '/a2a', 'x'],
  ['http://agent.example/a2a?x', '/a2a', 'x'],
  ['HTTPS://agent.example:8080/a2a', '/a2a', ''],
  ['http://agent.example?x', '', 'x'],
  ['/http://agent.example/a2a', '/http://agent.example/a2a', ''],
  ['//agent.example/a2a', '//agent.example/a2a', ''],
  ['/x/../a2a', '/x/../a2a', ''],
  ['/a2a%2Fv1', '/a2a%2Fv1', ''],
  ['*', '*', ''],
  ['', '', ''],
];

for (const [url, path, query] of TARGETS) {
  test(`request target: ${url || 'nothing'}`, () => {
    assert.deepEqual(targetOf(url), { path, query });
  });
}
