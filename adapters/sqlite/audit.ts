import type { JsonObject } from '../../core/message.ts';
import type { Act, ActName, AuditEntry } from '../../core/ports/operator-store.ts';
import type { Connection, Query } from './database.ts';
import { LIMIT } from './limit.ts';

const INSERT = `insert into audit (at, actor, account, act, tenant, principal, task, ordinal, reason, detail)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const COLUMNS = 'pk, at, actor, account, act, tenant, principal, task, ordinal, reason, detail';
const SELECT_NEWEST = `select ${COLUMNS} from audit where pk <= ? order by pk desc ${LIMIT}`;
const SELECT_AFTER = `select ${COLUMNS} from audit where pk > ? order by pk ${LIMIT}`;
const SELECT_OF_TASK = `select ${COLUMNS} from audit where task = ? order by pk`;

type Values = [
  ...[at: number, actor: string, account: string | null, act: string, tenant: string | null],
  ...[principal: string | null, task: string | null, ordinal: number | null],
  ...[reason: string | null, detail: string | null],
];

interface AuditRow {
  readonly pk: number;
  readonly at: number;
  readonly actor: string;
  readonly account: string | null;
  readonly act: ActName;
  readonly tenant: string | null;
  readonly principal: string | null;
  readonly task: string | null;
  readonly ordinal: number | null;
  readonly reason: string | null;
  readonly detail: string | null;
}

type Deed = Pick<AuditEntry, 'act' | 'tenant' | 'principal' | 'taskId' | 'ordinal' | 'detail'>;

export interface Audit {
  /** In the transaction of what it tells. */
  write(act: Act, deed: Deed, now: number): void;
  newest(limit: number): readonly AuditEntry[];
  /** Behind that number, oldest first. */
  after(number: number, limit: number): readonly AuditEntry[];
  ofTask(taskId: string): readonly AuditEntry[];
}

export function createAudit(connection: Connection): Audit {
  const insert: Query<Values, unknown> = connection.prepare(INSERT);
  const selectNewest: Query<[newest: number, limit: number], AuditRow> = connection.prepare(SELECT_NEWEST);
  const selectAfter: Query<[number: number, limit: number], AuditRow> = connection.prepare(SELECT_AFTER);
  const selectOfTask: Query<[task: string], AuditRow> = connection.prepare(SELECT_OF_TASK);

  return {
    write({ actor, account, reason }, deed, now) {
      insert.run(
        ...[now, actor, account ?? null, deed.act, deed.tenant ?? null],
        ...[deed.principal ?? null, deed.taskId ?? null, deed.ordinal ?? null],
        ...[reason ?? null, deed.detail ? JSON.stringify(deed.detail) : null],
      );
    },
    newest: (limit) => selectNewest.all(Number.MAX_SAFE_INTEGER, limit).map(toEntry),
    after: (number, limit) => selectAfter.all(number, limit).map(toEntry),
    ofTask: (taskId) => selectOfTask.all(taskId).map(toEntry),
  };
}

function toEntry(row: AuditRow): AuditEntry {
  return {
    number: row.pk,
    at: row.at,
    actor: row.actor,
    ...(row.account === null ? {} : { account: row.account }),
    act: row.act,
    ...(row.tenant === null ? {} : { tenant: row.tenant }),
    ...(row.principal === null ? {} : { principal: row.principal }),
    ...(row.task === null ? {} : { taskId: row.task }),
    ...(row.ordinal === null ? {} : { ordinal: row.ordinal }),
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.detail === null ? {} : { detail: JSON.parse(row.detail) as JsonObject }),
  };
}
