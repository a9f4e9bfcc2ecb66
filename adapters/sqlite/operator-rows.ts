import type { JsonObject, Message } from '../../core/message.ts';
import type {
  AttemptEntry,
  ExecutionEntry,
  ExecutionQuery,
  StepEntry,
  TaskQuery,
  TenantEntry,
  TurnEntry,
} from '../../core/ports/operator-store.ts';
import type { ExecutionOutcome, TaskRecord } from '../../core/ports/task-store.ts';
import type { TenantStatus } from '../../core/ports/tenants.ts';
import type { TaskState } from '../../core/task.ts';
import type { Connection, Query } from './database.ts';
import { LIMIT } from './limit.ts';
import { HELD_MS } from './migrations.ts';
import { parseMessage, RECORD_COLUMNS, RECORD_JOINS, type RecordRow, toRecord } from './task-rows.ts';

/*
 * What operators read. A filter that is not asked for is always true. Lists over all tenants walk from the newest row
 * until they are full, however far that is: they are asked now and then by a person, not by a service.
 */

const TURN_COLUMNS = `e.ordinal, e.attempt, e.outcome, e.claimable_at, e.lease_owner, e.taken_by, e.opened_at, e.error,
  e.trace, e.ended_at, e.retried_as, coalesce(a.worker, case e.attempt when 1 then e.begun_by end) as worker`;
const LAST_ATTEMPT = `left join turn_attempt a
  on a.task = e.task and a.ordinal = e.ordinal and a.attempt = e.attempt`;
const EXECUTIONS = `select ${TURN_COLUMNS}, t.id, t.state, o.tenant, o.principal, o.agent, x.id as context_id
  from execution e`;
const EXECUTION_FILTER = `(? = '' or o.tenant = ?) order by e.opened_at desc, e.task desc ${LIMIT}`;
const SELECT_DEAD = `${EXECUTIONS} indexed by execution_dead join task t on t.pk = e.task ${RECORD_JOINS} ${LAST_ATTEMPT}
  where e.outcome = 'dead' and e.opened_at <= ${Number.MAX_SAFE_INTEGER} and ${EXECUTION_FILTER}`;
const SELECT_OPEN = `${EXECUTIONS} indexed by execution_open join task t on t.pk = e.task ${RECORD_JOINS} ${LAST_ATTEMPT}
  where e.outcome = 'open' and ${EXECUTION_FILTER}`;
const SELECT_TASKS = `select ${RECORD_COLUMNS} from task t ${RECORD_JOINS}
  where t.pk <= ${Number.MAX_SAFE_INTEGER}
    and (? = '' or o.tenant = ?) and (? = '' or o.principal = ?) and (? = '' or x.id = ?) and (? = '' or t.state = ?)
  order by t.pk desc ${LIMIT}`;
const SELECT_TENANTS = `with known (id) as (
    select id from tenant union select tenant from owner union select tenant from tenant_pause)
  select k.id, n.status, n.attributes, n.removed_at, p.since,
    (select count(*) from owner o join task t on t.owner = o.pk where o.tenant = k.id) as tasks,
    (select count(*) from owner o join task t on t.owner = o.pk and t.ended = 0 where o.tenant = k.id) as live
  from known k left join tenant n on n.id = k.id left join tenant_pause p on p.tenant = k.id order by k.id`;
const SELECT_KNOWN_TENANT = `select 1 as one from tenant where id = ?
  union all select 1 from owner where tenant = ? union all select 1 from tenant_pause where tenant = ? limit 1`;
const SELECT_TENANTS_OF = `select tenant from owner where principal = ?
  union select tenant from credential where principal = ?`;
const COUNT_OF_PRINCIPAL = `select count(*) as tasks from owner o join task t on t.owner = o.pk
  where o.tenant = ? and o.principal = ?`;
const SELECT_TURNS = `select ${TURN_COLUMNS} from execution e ${LAST_ATTEMPT}
  where e.task = ? order by e.ordinal`;
const SELECT_ATTEMPTS = `select ordinal, attempt, claimed_at, worker from attempt
  where task = ? order by ordinal, attempt`;
const SELECT_MESSAGES = 'select ordinal, json from message where task = ? order by ordinal';
const SELECT_STEPS = `select ordinal, key, attempt, started_at, finished_at, length(result) as result_chars from step
  where task = ? order by started_at, ordinal, key`;
const SELECT_EXCLUSIVE = 'select exclusive from task where pk = ?';
const CLOSE_DEAD = "update execution set outcome = 'closed' where task = ? and ordinal = ? and outcome = 'dead'";
const NOTE_RETRY = 'update execution set retried_as = ? where task = ? and ordinal = ?';

interface TurnRow {
  readonly ordinal: number;
  readonly attempt: number;
  readonly outcome: ExecutionOutcome;
  readonly claimable_at: number;
  readonly lease_owner: string | null;
  readonly taken_by: number | null;
  readonly opened_at: number;
  readonly error: string | null;
  readonly trace: string | null;
  readonly ended_at: number | null;
  readonly retried_as: string | null;
  readonly worker: string | null;
}

interface AttemptRow {
  readonly ordinal: number;
  readonly attempt: number;
  readonly claimed_at: number;
  readonly worker: string;
}

interface ExecutionRow extends TurnRow {
  readonly id: string;
  readonly state: TaskState;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly context_id: string;
}

interface StepRow {
  readonly ordinal: number;
  readonly key: string;
  readonly attempt: number;
  readonly started_at: number;
  readonly finished_at: number | null;
  readonly result_chars: number | null;
}

interface TenantRow {
  readonly id: string;
  readonly status: TenantStatus | null;
  readonly attributes: string | null;
  readonly removed_at: number | null;
  readonly since: number | null;
  readonly tasks: number;
  readonly live: number;
}

export interface OperatorRows {
  executions(query: ExecutionQuery): readonly ExecutionEntry[];
  tasks(query: TaskQuery): readonly TaskRecord[];
  tenants(): readonly TenantEntry[];
  knowsTenant(id: string): boolean;
  /** Tenants in which the principal has anything. */
  tenantsOf(principal: string): readonly string[];
  countOf(tenant: string, principal: string): number;
  turns(task: number): readonly TurnEntry[];
  messages(task: number): ReadonlyMap<number, Message>;
  attempts(task: number): readonly AttemptEntry[];
  steps(task: number): readonly StepEntry[];
  exclusive(task: number): boolean;
  closeDead(task: number, ordinal: number): void;
  noteRetry(task: number, ordinal: number, retriedAs: string): void;
}

export function createOperatorRows(connection: Connection): OperatorRows {
  type Filter<K extends string> = [any: K, value: K];
  type ExecutionFilter = [...Filter<string>, limit: number];
  const selectDead: Query<ExecutionFilter, ExecutionRow> = connection.prepare(SELECT_DEAD);
  const selectOpen: Query<ExecutionFilter, ExecutionRow> = connection.prepare(SELECT_OPEN);
  const selectTasks: Query<
    [...Filter<string>, ...Filter<string>, ...Filter<string>, ...Filter<string>, limit: number],
    RecordRow
  > = connection.prepare(SELECT_TASKS);
  const selectTenants: Query<[], TenantRow> = connection.prepare(SELECT_TENANTS);
  const selectKnown: Query<[id: string, again: string, andAgain: string], unknown> =
    connection.prepare(SELECT_KNOWN_TENANT);
  const selectTenantsOf: Query<[principal: string, again: string], { tenant: string }> =
    connection.prepare(SELECT_TENANTS_OF);
  const countOf: Query<[tenant: string, principal: string], { tasks: number }> = connection.prepare(COUNT_OF_PRINCIPAL);
  const selectTurns: Query<[task: number], TurnRow> = connection.prepare(SELECT_TURNS);
  const selectMessages: Query<[task: number], { ordinal: number; json: string }> = connection.prepare(SELECT_MESSAGES);
  const selectAttempts: Query<[task: number], AttemptRow> = connection.prepare(SELECT_ATTEMPTS);
  const selectSteps: Query<[task: number], StepRow> = connection.prepare(SELECT_STEPS);
  const selectExclusive: Query<[task: number], { exclusive: number }> = connection.prepare(SELECT_EXCLUSIVE);
  const closeDead: Query<[task: number, ordinal: number], unknown> = connection.prepare(CLOSE_DEAD);
  const noteRetry: Query<[retriedAs: string, task: number, ordinal: number], unknown> = connection.prepare(NOTE_RETRY);

  return {
    executions({ outcome, tenant = '', limit }) {
      const select = outcome === 'dead' ? selectDead : selectOpen;
      return select.all(tenant, tenant, limit).map(toExecution);
    },
    tasks({ tenant = '', principal = '', contextId = '', state = '', limit }) {
      const filters = [tenant, tenant, principal, principal, contextId, contextId, state, state] as const;
      return selectTasks.all(...filters, limit).map(toRecord);
    },
    tenants: () => selectTenants.all().map(toTenant),
    knowsTenant: (id) => selectKnown.get(id, id, id) !== undefined,
    tenantsOf: (principal) => selectTenantsOf.all(principal, principal).map(({ tenant }) => tenant),
    countOf: (tenant, principal) => countOf.get(tenant, principal)?.tasks ?? 0,
    turns: (task) => selectTurns.all(task).map(toTurn),
    messages: (task) => new Map(selectMessages.all(task).map(({ ordinal, json }) => [ordinal, parseMessage(json)])),
    attempts: (task) =>
      selectAttempts.all(task).map(({ claimed_at: claimedAt, ...attempt }) => ({ ...attempt, claimedAt })),
    steps: (task) => selectSteps.all(task).map(toStep),
    exclusive: (task) => selectExclusive.get(task)?.exclusive === 1,
    closeDead(task, ordinal) {
      closeDead.run(task, ordinal);
    },
    noteRetry(task, ordinal, retriedAs) {
      noteRetry.run(retriedAs, task, ordinal);
    },
  };
}

function toTurn(row: TurnRow): TurnEntry {
  const open = row.outcome === 'open';
  return {
    ordinal: row.ordinal,
    outcome: row.outcome,
    attempts: row.attempt,
    openedAt: row.opened_at,
    ...(row.worker === null ? {} : { worker: row.worker }),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
    ...(open && row.lease_owner !== null ? { leasedUntil: row.claimable_at } : {}),
    held: open && row.claimable_at >= HELD_MS,
    ...(row.taken_by === null ? {} : { takenBy: row.taken_by }),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.trace === null ? {} : { trace: row.trace }),
    ...(row.retried_as === null ? {} : { retriedAs: row.retried_as }),
  };
}

function toExecution(row: ExecutionRow): ExecutionEntry {
  return {
    taskId: row.id,
    owner: { tenant: row.tenant, principal: row.principal, agent: row.agent },
    contextId: row.context_id,
    state: row.state,
    ...toTurn(row),
  };
}

function toStep(row: StepRow): StepEntry {
  return {
    ordinal: row.ordinal,
    key: row.key,
    attempt: row.attempt,
    startedAt: row.started_at,
    ...(row.finished_at === null ? {} : { finishedAt: row.finished_at }),
    ...(row.result_chars === null ? {} : { resultChars: row.result_chars }),
  };
}

function toTenant(row: TenantRow): TenantEntry {
  return {
    id: row.id,
    status: row.status ?? 'active',
    attributes: row.attributes === null ? {} : (JSON.parse(row.attributes) as JsonObject),
    ...(row.removed_at === null ? {} : { removedAt: row.removed_at }),
    ...(row.since === null ? {} : { pausedAt: row.since }),
    tasks: row.tasks,
    live: row.live,
  };
}
