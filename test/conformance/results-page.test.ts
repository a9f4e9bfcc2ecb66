import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RESULT_TABLES, readResultsPage, resultsOf, withResults } from './results-page.ts';

const PAGE = [
  '# Page',
  '<!-- client results, written by `npm run test:interop -- --record` -->',
  'old',
  '<!-- end of client results -->',
  'After.',
].join('\n\n');
const ROW = ['Go', '2.3.1', 'go1.25', '2026-11-30', '22.1.0', '1.3.0', '1.0', 'JSON-RPC', '/a2a', 11, 0, 0] as const;

describe('results page', () => {
  test('results page: new rows take the place of what was there, and nothing else changes', () => {
    const page = withResults(PAGE, 'client results', [ROW]);
    assert.deepEqual(resultsOf(page, 'client results'), [ROW.map(String)]);
    assert.doesNotMatch(page, /old/);
    assert.ok(page.startsWith('# Page\n\n<!-- client results') && page.endsWith('-->\n\nAfter.'));
  });

  test('results page: recording twice is recording once', () => {
    const once = withResults(PAGE, 'client results', [ROW]);
    assert.equal(withResults(once, 'client results', [ROW]), once);
  });

  test('results page: a bar in a cell is no new cell', () => {
    const row = ['a|b', ...ROW.slice(1)];
    assert.deepEqual(resultsOf(withResults(PAGE, 'client results', [row]), 'client results'), [row.map(String)]);
  });

  test('results page: a page without that place, and a row with a cell too few, are refused', () => {
    assert.throws(() => withResults(PAGE, 'suite results', []), /no place for suite results/);
    assert.throws(() => withResults(PAGE, 'client results', [ROW.slice(1)]), /11 cells, not 12/);
  });

  test('results page: docs/conformance.md has every table, with its columns', () => {
    const page = readResultsPage();
    for (const name of Object.keys(RESULT_TABLES) as (keyof typeof RESULT_TABLES)[]) {
      assert.equal(withResults(page, name, resultsOf(page, name)), page, name);
    }
  });
});
