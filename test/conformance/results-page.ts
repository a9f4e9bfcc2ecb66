import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/*
 * The tables of docs/conformance.md that programs write: figures are measured and recorded, never typed. A table stands
 * between two comments with its name, and everything between them is replaced.
 */

interface ResultTable {
  /** What writes it. */
  readonly command: string;
  readonly columns: readonly string[];
}

export const RESULT_TABLES = {
  'suite results': {
    command: 'npm run test:tck -- --record',
    columns: [
      ...['Suite revision', 'Date', 'Node', 'A2A SDK', 'Protocol', 'Binding', 'Set-up', 'Callers'],
      ...['Passed', 'Failed', 'Skipped'],
    ],
  },
  'known failures': {
    command: 'npm run test:tck -- --record',
    columns: ['Requirement', 'Test', 'Binding', 'Set-up', 'What happens', 'Cause'],
  },
  'client results': {
    command: 'npm run test:interop -- --record',
    columns: [
      ...['Client', 'Version', 'Runtime', 'Date', 'Node', 'A2A SDK', 'Protocol', 'Binding', 'Edge'],
      ...['Passed', 'Failed', 'Skipped'],
    ],
  },
  'known faults of clients': {
    command: 'npm run test:interop -- --record',
    columns: ['Client', 'Protocol', 'Binding', 'Edge', 'Scenario', 'Cause'],
  },
  'interop kit results': {
    command: 'npm run test:itk -- --record',
    columns: [
      ...['Kit revision', 'Date', 'Node', 'A2A SDK', 'Agents of the kit', 'Protocol', 'Binding'],
      ...['Passed', 'Failed', 'Skipped'],
    ],
  },
} as const satisfies Readonly<Record<string, ResultTable>>;

export type ResultTableName = keyof typeof RESULT_TABLES;

/** Cells in the order of the table's columns. */
export type ResultRow = readonly (string | number)[];

const PAGE = fileURLToPath(new URL('../../../docs/conformance.md', import.meta.url));

export function readResultsPage(): string {
  return readFileSync(PAGE, 'utf8');
}

/** Writes the rows into docs/conformance.md in place of those that are there. */
export function recordResults(name: ResultTableName, rows: readonly ResultRow[]): void {
  writeFileSync(PAGE, withResults(readResultsPage(), name, rows));
}

/** The page with these rows. Throws when it has no place for them, or a row has not one cell for each column. */
export function withResults(page: string, name: ResultTableName, rows: readonly ResultRow[]): string {
  const { from, to } = placeOf(page, name);
  const { columns } = RESULT_TABLES[name];
  const lines = [columns, columns.map(() => '---'), ...rows].map((cells) => {
    if (cells.length !== columns.length) throw new Error(`${name}: ${cells.length} cells, not ${columns.length}`);
    return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return `${page.slice(0, from)}\n\n${lines.join('\n')}\n\n${page.slice(to)}`;
}

/** The rows that the page has, without the heading. */
export function resultsOf(page: string, name: ResultTableName): readonly (readonly string[])[] {
  const { from, to } = placeOf(page, name);
  const lines = page.slice(from, to).trim().split('\n').slice(2);
  return lines.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
}

function placeOf(page: string, name: ResultTableName): { readonly from: number; readonly to: number } {
  const opening = `<!-- ${name}, written by \`${RESULT_TABLES[name].command}\` -->`;
  const from = page.indexOf(opening);
  const to = page.indexOf(`<!-- end of ${name} -->`, from);
  if (from < 0 || to < 0) throw new Error(`the page has no place for ${name}: ${opening}`);
  return { from: from + opening.length, to };
}
