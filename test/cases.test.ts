import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** Folder of the sources: the compiled tests are two folders below the root. */
const TESTS = fileURLToPath(new URL('../../test/', import.meta.url));

interface Row {
  readonly what: string;
  readonly file: string;
  readonly name: string;
}

/** The rows of every table that says where something is tested. */
function rowsOf(markdown: string): readonly Row[] {
  return markdown.split('\n').flatMap((line) => {
    const cells = line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim());
    const [name = '', file = '', ...before] = cells.toReversed();
    return file.endsWith('.test.ts') ? [{ what: before.toReversed().join(': '), file, name }] : [];
  });
}

/** What keeps a row from being true. */
function faultOf({ what, file, name }: Row): string | undefined {
  const path = join(TESTS, file);
  if (!existsSync(path)) return `${what}: there is no ${file}`;
  return name !== '' && readFileSync(path, 'utf8').includes(name) ? undefined : `${what}: ${file} has no "${name}"`;
}

test('cases: every test that the table names is there', () => {
  const rows = rowsOf(readFileSync(join(TESTS, 'cases.md'), 'utf8'));
  assert.ok(rows.length > 100, `${rows.length} rows`);
  assert.deepEqual(rows.map(faultOf).filter(Boolean), []);
});

test('cases: a file or a test that is not there is found', () => {
  const planted =
    '| A1 | x | e2e/nowhere.test.ts | y |\n| A2 | x | cases.test.ts | no test is called like this: \u2713 |';
  assert.deepEqual(
    rowsOf(planted).map((row) => faultOf(row) !== undefined),
    [true, true],
  );
});
