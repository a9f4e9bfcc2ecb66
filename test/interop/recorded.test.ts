import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readResultsPage, resultsOf } from '../conformance/results-page.ts';
import { CLIENTS } from './clients.ts';
import { clientRow, faultRows } from './result-rows.ts';
import { faultOf, scenariosOf } from './scenarios.ts';

/* What is written down about the clients, held to the lists that the suite goes by. */

test('recorded clients: one row for each way of each client, every scenario passed or skipped for a known fault', () => {
  const about = { client: '', version: '', runtime: '', date: '', node: '', sdk: '' };
  const expected = CLIENTS.flatMap(({ language, routes }) =>
    routes.map((route) => {
      const names = scenariosOf(route).map(([name]) => name);
      const skipped = names.filter((name) => faultOf(language, route, name) !== undefined).length;
      return clientRow(route, about, { passed: names.length - skipped, failed: 0, skipped });
    }),
  );
  const shown = resultsOf(readResultsPage(), 'client results');
  assert.deepEqual(
    shown.map((cells) => cells.slice(6)),
    expected.map((cells) => cells.slice(6).map(String)),
  );
});

test('recorded clients: the faults on the page are those that the suite skips', () => {
  const shown = resultsOf(readResultsPage(), 'known faults of clients');
  assert.deepEqual(
    shown,
    faultRows().map((cells) => cells.map(String)),
  );
});
