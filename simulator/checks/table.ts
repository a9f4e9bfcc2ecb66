import { brief } from './check.ts';
import type { CheckRow } from './run-checks.ts';

const RULE_CHARS = 66;
const SEEN_CHARS = 110;

/** One line: what happened, the rule, what was seen. */
function formatRow(row: CheckRow): string {
  return `${row.status.padEnd(4)}  ${brief(row.rule, RULE_CHARS).padEnd(RULE_CHARS + 1)}  ${brief(row.seen, SEEN_CHARS)}`;
}

export function formatTable(rows: readonly CheckRow[]): string {
  const groups = new Map<string, CheckRow[]>();
  for (const row of rows) {
    const group = row.id.split('.')[0] ?? '';
    groups.set(group, [...(groups.get(group) ?? []), row]);
  }
  const count = (status: CheckRow['status']): number => rows.filter((row) => row.status === status).length;
  const lines = [...groups].flatMap(([group, members]) => ['', group, ...members.map((row) => `  ${formatRow(row)}`)]);
  return [...lines, '', `${count('pass')} passed, ${count('fail')} failed, ${count('skip')} skipped`, ''].join('\n');
}
