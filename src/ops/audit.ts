import type { AuditEntry } from '../../core/ports/operator-store.ts';
import type { Command } from './command.ts';
import { auditJson } from './json-shapes.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, page } from './page.ts';
import { table, time } from './table.ts';

function subjectOf({ tenant, principal, taskId, ordinal }: AuditEntry): string {
  const turn = ordinal === undefined ? '' : ` turn ${ordinal}`;
  const task = taskId === undefined ? [] : [`task ${taskId}${turn}`];
  const who = principal === undefined ? [] : [`principal ${principal}`];
  const where = tenant === undefined ? [] : [`tenant ${tenant}`];
  return [...task, ...who, ...where].join(', ') || '-';
}

function rowOf(entry: AuditEntry): readonly string[] {
  const { number, at, actor, account, act, reason = '-', detail } = entry;
  const who = account === undefined ? actor : `${actor} (${account})`;
  return [String(number), time(at), who, act, reason, detail ? JSON.stringify(detail) : '-', subjectOf(entry)];
}

const list: Command = {
  options: ['limit'],
  prepare(args) {
    const limit = args.number('limit', LIMIT_DEFAULT, LIMIT_MAX);
    return async ({ operator }) =>
      page(await operator.audit(limit + 1), limit, {
        text: (shown) =>
          table(['NO', 'TIME', 'WHO', 'ACT', 'REASON', 'DETAIL', 'ON'], shown.map(rowOf), 'nobody has done anything'),
        json: auditJson,
      });
  },
};

export const audit = { list } satisfies Record<string, Command>;
