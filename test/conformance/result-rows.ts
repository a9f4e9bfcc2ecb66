import type { KnownFailure, Verdict } from './judge.ts';
import { RESULT_TABLES, type ResultRow, type ResultTableName } from './results-page.ts';
import { BINDINGS, CALLERS, type Run, SET_UPS } from './set-ups.ts';
import type { Tested } from './tested.ts';

const PROTOCOL = '1.0';
const HAPPENS = { failed: 'fails', unmet: 'is not met', hollow: 'is skipped' } as const;

/** A row of the table `suite results`. */
export function resultRow(run: Run, verdict: Verdict, about: Tested & { readonly revision: string }): ResultRow {
  const { revision, date, node, sdk } = about;
  const where = [BINDINGS[run.binding].title, SET_UPS[run.setUp].title, CALLERS[run.callers].title];
  const { passed, failed, skipped } = verdict;
  return [revision.slice(0, 7), date, node, sdk, PROTOCOL, ...where, passed, failed, skipped];
}

/** The table `known failures`. */
export function failureRows(known: readonly KnownFailure[]): readonly ResultRow[] {
  return known.map(({ requirement, test, bindings, setUps, callers, happens, cause }) => [
    requirement,
    `\`${test}\``,
    bindings.map((name) => BINDINGS[name].title).join(', '),
    [...setUps.map((name) => SET_UPS[name].title), ...(callers ?? []).map((name) => CALLERS[name].title)].join('; '),
    HAPPENS[happens],
    cause,
  ]);
}

/** A table for a terminal. */
export function printable(name: ResultTableName, rows: readonly ResultRow[]): string {
  const lines = [RESULT_TABLES[name].columns, ...rows].map((cells) => cells.map(String));
  const widths = RESULT_TABLES[name].columns.map((_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0)));
  return lines
    .map((cells) =>
      cells
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
