import { clip } from '../../core/markdown.ts';
import { printable } from './printable.ts';

/** Longest cell, in UTF-16 units. */
const CELL_MAX = 120;

/** Columns are as wide as their longest cell; without rows it is `none` alone. Ends with a line feed. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], none: string): string {
  if (rows.length === 0) return `${none}\n`;
  const lines = [headings, ...rows].map((row) => row.map((cell) => clip(printable(cell), CELL_MAX)));
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) => `${row(line, widths)}\n`).join('');
}

function row(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd();
}

/** A name and its value a line, the values in one column. Absent values are left out. */
export function fields(pairs: readonly (readonly [name: string, value: string | undefined])[]): string {
  const present = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
  const width = Math.max(...present.map(([name]) => name.length));
  return present.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`).join('');
}

/** `2026-11-30 10:00:00Z`; `-` when it is not known. */
export function time(at: number | undefined): string {
  return at === undefined ? '-' : `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

/** With milliseconds. */
export function exactTime(at: number): string {
  return new Date(at).toISOString().replace('T', ' ');
}

/** `1 task`, `2 tasks`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
