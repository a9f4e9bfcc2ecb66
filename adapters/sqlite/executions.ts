import {
  type ExecutionRecord,
  type ExecutionWrite,
  type Fence,
  fenceKey,
  type HeldLease,
  type PendingMessage,
} from '../../core/ports/task-store.ts';
import type { Owner } from '../../core/principal.ts';
import type { Connection, Query } from './database.ts';
import { broken } from './failures.ts';
import { HELD_MS } from './migrations.ts';
import { parseMessage } from './task-rows.ts';

/** Without the hint SQLite walks all turns that the task ever had. */
const SELECT_OPEN = `select ordinal, attempt, lease_owner from execution indexed by execution_open
  where task = ? and outcome = 'open' order by ordinal`;
const SELECT_PENDING = `select e.ordinal, m.json from execution e indexed by execution_open
  join message m on m.task = e.task and m.ordinal = e.ordinal
  where e.task = ? and e.outcome = 'open' and e.ordinal <> ? and e.ordinal > ? order by e.ordinal`;
const SUM_OPEN = `select coalesce(sum(octet_length(m.json)), 0) as bytes from execution e indexed by execution_open
  join message m on m.task = e.task and m.ordinal = e.ordinal
  where e.task = ? and e.outcome = 'open'`;
const SUM_TAKEN = `select coalesce(sum(octet_length(m.json)), 0) as bytes from execution e indexed by execution_taken
  join message m on m.task = e.task and m.ordinal = e.ordinal
  where e.task = ? and e.taken_by = ?`;
const SELECT_TAKEN = `select e.ordinal, m.json from execution e
  join message m on m.task = e.task and m.ordinal = e.ordinal
  where e.task = ? and e.taken_by = ? order by e.ordinal`;
/** How far ahead of its time a turn of that tenant is put: see HELD_MS. */
const HELD = `coalesce((select ${HELD_MS} from tenant_pause where tenant = ?), 0)`;
const INSERT_EXECUTION = `insert into execution
  (task, ordinal, agent, attempt, outcome, claimable_at, lost, opened_at, trace, lane)
  values (?, ?, ?, 0, 'open', ? + ${HELD}, 0, ?, ?, (select pk from lane where tenant = ? and agent = ?))`;
/** The lane counts it as running at once: nobody has seen it wait. The row is its first attempt's, too. */
const INSERT_LEASED = `insert into execution
  (task, ordinal, agent, attempt, outcome, lease_owner, begun_by, claimable_at, lost, opened_at, trace, lane)
  values (?, ?, ?, 1, 'open', ?, ?, ?, 0, ?, ?, (select pk from lane where tenant = ? and agent = ?))`;
/*
 * `or fail`, here and for the lease: what fires triggers is otherwise prepared to be undone alone, and copies aside each
 * page that it changes, a tenth of what it costs. Only the triggers come after the first write, and what they count can be
 * refused by nothing; a fault of the file ends the whole transaction either way.
 */
const CLOSE_EXECUTION = `update or fail execution
  set outcome = ?, lease_owner = null, lost = 0, taken_by = ?, error = ?, ended_at = ?
  where task = ? and ordinal = ? and outcome = 'open'`;
const REQUEUE_EXECUTION = `update execution
  set outcome = 'open', lease_owner = null, lost = 0, taken_by = null, error = null, ended_at = null,
    claimable_at = ? + ${HELD}
  where task = ? and ordinal = ?`;

const LEASE_EXECUTION = `update or fail execution set attempt = attempt + 1, lease_owner = ?, lost = 0, claimable_at = ?
  where task = ? and ordinal = ?`;
const INSERT_ATTEMPT = `insert into turn_attempt (task, ordinal, attempt, claimed_at, worker)
  values (?, ?, ?, ?, ?)`;
/** Another turn of the task whose lease ran out: it would pass its fence beside the one that is claimed now. */
const REVOKE_OTHERS = `update execution indexed by execution_open set lease_owner = null, lost = 1
  where task = ? and outcome = 'open' and ordinal <> ? and lease_owner is not null`;
const SELECT_HELD = `select e.task, t.id, e.ordinal, e.attempt,
    (select max(o.ordinal) from execution o indexed by execution_open
      where o.task = e.task and o.outcome = 'open') as newest
  from execution e
  join task t on t.pk = e.task
  join owner w on w.pk = t.owner
  left join tenant n on n.id = w.tenant
  where e.lease_owner = ? and e.outcome = 'open' and t.ended = 0 and coalesce(n.status, 'active') = 'active'`;
const EXTEND_LEASE = 'update execution set claimable_at = ? where task = ? and ordinal = ?';
const COUNT_BACKLOG = `select
    count(*) as open,
    coalesce(sum(lease_owner is not null and claimable_at > ?), 0) as leased,
    min(case when lease_owner is null and claimable_at <= ? then claimable_at end) as oldest
  from execution where outcome = 'open'`;

export interface OpenRow {
  readonly ordinal: number;
  readonly attempt: number;
  readonly lease_owner: string | null;
}

export interface ClaimableRow extends OpenRow {
  readonly task: number;
  readonly lost: number;
  readonly trace: string | null;
  /** What its message takes; 0 without one, which the claim then finds out. */
  readonly bytes: number;
  /** 1: later turns of the task are open, too. */
  readonly more: number;
}

interface PendingRow {
  readonly ordinal: number;
  readonly json: string;
}

interface HeldRow {
  readonly task: number;
  readonly id: string;
  readonly ordinal: number;
  readonly attempt: number;
  readonly newest: number;
}

export interface Lease {
  readonly worker: string;
  readonly until: number;
}

interface TaskKey {
  readonly pk: number;
  readonly owner: Owner;
}

type OpenWrite = Extract<ExecutionWrite, { readonly open: number }>;

export interface Executions {
  /** Oldest first. */
  open(task: number): readonly OpenRow[];
  /** Messages of open turns behind `after`, without that of the turn itself. */
  pending(task: number, turn: number, after?: number): readonly PendingMessage[];
  /** What the messages of the open turns take. */
  openBytes(task: number): number;
  taken(task: number, by: number): readonly PendingMessage[];
  write(task: TaskKey, write: ExecutionWrite, now: number): void;
  /** Opens a turn that has begun already. */
  openLeased(task: TaskKey, write: OpenWrite, lease: Lease, now: number): void;
  /** What the messages take that another turn's inbox handed over. */
  takenBytes(task: number, by: number): number;
  /** That were taken here; 0 before the first. */
  readonly longestLeaseMs: number;
  /** Begins the row's next attempt and answers the task's open turns, oldest first. */
  lease(row: ClaimableRow, lease: Lease, now: number): readonly OpenRow[];
  /** Extends what the worker holds; `only` the attempts with these keys, if given. */
  extend(lease: Lease, only?: ReadonlySet<string>): readonly HeldLease[];
  backlog(now: number): { readonly open: number; readonly leased: number; readonly oldest: number | null };
}

export function createExecutions(connection: Connection): Executions {
  const selectOpen: Query<[task: number], OpenRow> = connection.prepare(SELECT_OPEN);
  const selectPending: Query<[task: number, turn: number, after: number], PendingRow> =
    connection.prepare(SELECT_PENDING);
  const sumOpen: Query<[task: number], { bytes: number }> = connection.prepare(SUM_OPEN);
  const sumTaken: Query<[task: number, by: number], { bytes: number }> = connection.prepare(SUM_TAKEN);
  const selectTaken: Query<[task: number, by: number], PendingRow> = connection.prepare(SELECT_TAKEN);
  const insert: Query<
    [
      ...[task: number, ordinal: number, agent: string, claimableAt: number, paused: string],
      ...[openedAt: number, trace: string | null, tenant: string, laneAgent: string],
    ],
    unknown
  > = connection.prepare(INSERT_EXECUTION, 'followed');
  const insertLeased: Query<
    [
      ...[task: number, ordinal: number, agent: string, worker: string, begunBy: string, until: number],
      ...[openedAt: number, trace: string | null, tenant: string, laneAgent: string],
    ],
    unknown
  > = connection.prepare(INSERT_LEASED, 'followed');
  const close: Query<
    [outcome: string, takenBy: number | null, error: string | null, endedAt: number, task: number, ordinal: number],
    unknown
  > = connection.prepare(CLOSE_EXECUTION, 'followed');
  const requeue: Query<[claimableAt: number, paused: string, task: number, ordinal: number], unknown> =
    connection.prepare(REQUEUE_EXECUTION, 'followed');
  const leaseOne: Query<[worker: string, until: number, task: number, ordinal: number], unknown> = connection.prepare(
    LEASE_EXECUTION,
    'followed',
  );
  const insertAttempt: Query<
    [task: number, ordinal: number, attempt: number, claimedAt: number, worker: string],
    unknown
  > = connection.prepare(INSERT_ATTEMPT);
  const revokeOthers: Query<[task: number, ordinal: number], unknown> = connection.prepare(REVOKE_OTHERS, 'followed');
  const selectHeld: Query<[worker: string], HeldRow> = connection.prepare(SELECT_HELD);
  const extendLease: Query<[until: number, task: number, ordinal: number], unknown> = connection.prepare(EXTEND_LEASE);
  const countBacklog: Query<[now: number, again: number], { open: number; leased: number; oldest: number | null }> =
    connection.prepare(COUNT_BACKLOG);

  let longestLeaseMs = 0;

  return {
    open: (task) => selectOpen.all(task),
    pending: (task, turn, after = 0) => selectPending.all(task, turn, after).map(toPending),
    openBytes: (task) => sumOpen.get(task)?.bytes ?? 0,
    taken: (task, by) => selectTaken.all(task, by).map(toPending),
    write(task, write, now) {
      const { tenant, agent } = task.owner;
      if ('open' in write) {
        insert.run(task.pk, write.open, agent, now, tenant, now, write.trace ?? null, tenant, agent);
      } else if ('requeue' in write) {
        const changed = requeue.run(now + (write.delayMs ?? 0), tenant, task.pk, write.requeue);
        if (changed === 0) throw broken(`turn ${write.requeue} has no execution to requeue`);
      } else {
        const { close: ordinal, outcome, takenBy, error } = write;
        const changed = close.run(outcome, takenBy ?? null, error ?? null, now, task.pk, ordinal);
        if (changed === 0) throw broken(`turn ${ordinal} has no open execution to close`);
      }
    },
    openLeased({ pk, owner: { tenant, agent } }, { open: ordinal, trace }, { worker, until }, now) {
      longestLeaseMs = Math.max(longestLeaseMs, until - now);
      insertLeased.run(pk, ordinal, agent, worker, worker, until, now, trace ?? null, tenant, agent);
    },
    takenBytes: (task, by) => sumTaken.get(task, by)?.bytes ?? 0,
    get longestLeaseMs() {
      return longestLeaseMs;
    },
    lease({ task, ordinal, attempt, more }, { worker, until }, now) {
      longestLeaseMs = Math.max(longestLeaseMs, until - now);
      leaseOne.run(worker, until, task, ordinal);
      insertAttempt.run(task, ordinal, attempt + 1, now, worker);
      if (more === 0) return [{ ordinal, attempt: attempt + 1, lease_owner: worker }];
      const open = selectOpen.all(task);
      const others = open.some((row) => row.ordinal !== ordinal && row.lease_owner !== null);
      if (!others) return open;
      revokeOthers.run(task, ordinal);
      return selectOpen.all(task);
    },
    extend(lease, only) {
      return selectHeld.all(lease.worker).flatMap((row) => {
        const fence = { taskId: row.id, ordinal: row.ordinal, worker: lease.worker, attempt: row.attempt };
        if (only && !only.has(fenceKey(fence))) return [];
        extendLease.run(lease.until, row.task, row.ordinal);
        return [{ fence, newest: row.newest }];
      });
    },
    backlog: (now) => countBacklog.get(now, now) ?? { open: 0, leased: 0, oldest: null },
  };
}

export function holdsLease(open: readonly OpenRow[], fence: Fence): boolean {
  return open.some(
    (row) => row.ordinal === fence.ordinal && row.attempt === fence.attempt && row.lease_owner === fence.worker,
  );
}

export function toExecution(row: OpenRow): ExecutionRecord {
  return { ordinal: row.ordinal, attempt: row.attempt, leased: row.lease_owner !== null };
}

function toPending(row: PendingRow): PendingMessage {
  return { ordinal: row.ordinal, message: parseMessage(row.json) };
}
