import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FAULTS, matrixTable } from './matrix.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'docs/guarantees.md'), 'utf8');

/** What stands between one heading of a promise and the next heading. */
const PROMISES = PAGE.split(/^(?=##)/m).filter((section) => section.startsWith('### '));

function named(section: string) {
  return [...section.matchAll(/^- `(test\/[^`]+)`: (.+)$/gm)].map(([, file = '', name = '']) => ({ file, name }));
}

/** Titles of the tests in a source file without the requirements that they cite; what is filled in is shown as `…`. */
function titles(file: string): readonly string[] {
  const source = readFileSync(join(ROOT, file), 'utf8');
  return [...source.matchAll(/\b(?:test|it)\(\s*(?:'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`)/g)].map(
    ([, plain, template]) =>
      (plain ?? template ?? '')
        .replace(/\$\{[^}]*\}/g, '…')
        .replace(/\\(.)/g, '$1')
        .replace(/ \[[^\]]+\]$/, ''),
  );
}

describe('guarantees', () => {
  test('guarantees: every promise says its limits and names its tests', () => {
    assert.ok(PROMISES.length > 20);
    for (const section of PROMISES) {
      const [title = '', promise = '', limits = ''] = section.split('\n\n');
      assert.match(promise, /^[A-Z].*\.$/s, title);
      assert.match(limits, /^Limits: .*\.$/s, title);
      assert.ok(named(section).length > 0, `${title} is proved by a test`);
    }
  });

  test('guarantees: the tests that it names exist', () => {
    for (const { file, name } of PROMISES.flatMap(named)) {
      // Contract suites put the store's name in front.
      const found = titles(file).some((title) => title === name || title === `… ${name}`);
      assert.ok(found, `${file}: ${name}`);
    }
  });

  test('guarantees: the kill matrix is the one that the tests run, and has no empty cell', () => {
    const table = matrixTable();
    assert.ok(PAGE.includes(`\n\n${table}\n`), `docs/guarantees.md needs this table:\n${table}`);
    const rows = table.split('\n').slice(2);
    for (const row of rows) assert.match(row, /^(\| [^|]*\w[^|]* ){5}\|$/, row);
    assert.equal(rows.length, FAULTS.size + 1, 'one point is reached from outside');
  });
});
