import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { concerns } from './judge.ts';
import { KNOWN_FAILURES } from './known-failures.ts';
import { failureRows } from './result-rows.ts';
import { readResultsPage, resultsOf } from './results-page.ts';
import { BINDINGS, CALLERS, type Run, SET_UPS, SUITE_REVISION } from './set-ups.ts';

/* What is written down about the official suite, held to the tables that the gate goes by. */

function names<Name extends string>(table: Readonly<Record<Name, unknown>>): readonly Name[] {
  return Object.keys(table) as Name[];
}

const RUNS: readonly Run[] = names(SET_UPS).flatMap((setUp) =>
  names(CALLERS).flatMap((callers) => names(BINDINGS).map((binding) => ({ binding, setUp, callers }))),
);

describe('recorded results', () => {
  const rows = resultsOf(readResultsPage(), 'suite results');

  test('recorded results: there is one row for each run of the gate, of the pinned revision', () => {
    const title = ({ binding, setUp, callers }: Run) => [
      BINDINGS[binding].title,
      SET_UPS[setUp].title,
      CALLERS[callers].title,
    ];
    assert.deepEqual(
      rows.map((cells) => cells.slice(5, 8)),
      RUNS.map(title),
    );
    assert.deepEqual([...new Set(rows.map(([revision]) => revision))], [SUITE_REVISION.slice(0, 7)]);
  });

  test('recorded results: what failed is what is known to fail, and no test is missing', () => {
    for (const [at, run] of RUNS.entries()) {
      const [passed = 0, failed = 0, skipped = 0] = (rows[at] ?? []).slice(8).map(Number);
      const known = KNOWN_FAILURES.filter((row) => concerns(row, run) && row.happens !== 'hollow');
      assert.equal(failed, known.length, JSON.stringify(run));
      assert.equal(passed + failed + skipped, BINDINGS[run.binding].tests, JSON.stringify(run));
    }
  });

  test('recorded results: the known failures on the page are those of the gate', () => {
    const shown = resultsOf(readResultsPage(), 'known failures');
    assert.deepEqual(
      shown,
      failureRows(KNOWN_FAILURES).map((cells) => cells.map(String)),
    );
  });

  test('recorded results: the workflow runs the pinned revision', () => {
    const file = fileURLToPath(new URL('../../../.github/workflows/tck.yml', import.meta.url));
    assert.deepEqual(readFileSync(file, 'utf8').match(/\b[0-9a-f]{40}\b/g), [SUITE_REVISION]);
  });
});
