import type { EventBody, StoredEvent } from '../../core/event.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Message } from '../../core/message.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { ListFilter, ReadOptions, Snapshot, TaskRecord, TaskStore } from '../../core/ports/task-store.ts';
import type { Task, TaskState } from '../../core/task.ts';
import type { Artifacts } from './artifacts.ts';
import type { Connection, Query } from './database.ts';
import { LIMIT } from './limit.ts';
import {
  OWNER_PK,
  type OwnerValues,
  ownerValues,
  parseMessage,
  RECORD_COLUMNS,
  RECORD_JOINS,
  type RecordRow,
  toRecord,
} from './task-rows.ts';

const RECORDS = `select ${RECORD_COLUMNS} from task t ${RECORD_JOINS}`;
/** The status may be long, too: what fits is chosen by size, before anything is read. */
const KEYS = `select t.pk, t.messages, octet_length(t.status) + coalesce(octet_length(t.metadata), 0) as bytes
  from task t`;
const SELECT_RECORD = `${RECORDS} where t.id = ? and o.tenant = ? and o.principal = ? and o.agent = ?`;
const SELECT_STATE = `select t.state from task t where t.id = ? and t.owner = ${OWNER_PK}`;
const SELECT_MESSAGES = 'select json from message where task = ? and ordinal > ? order by ordinal';
const SELECT_EVENTS = `select e.sequence, e.at, e.json from task t
  join event e on e.task = t.pk
  where t.id = ? and t.owner = ${OWNER_PK} and e.sequence > ? order by e.sequence ${LIMIT}`;
const CONTEXT_PK = `(select pk from context where owner = ${OWNER_PK} and id = ?)`;
const SELECT_EARLIER = `${KEYS} where t.context = ${CONTEXT_PK} and t.id <> ? order by t.pk desc ${LIMIT}`;
const SELECT_DUE = `select id from task
  where ended = 0 and deadline_at is not null and deadline_at <= ? order by deadline_at ${LIMIT}`;

/*
 * Lists. A filter that is not asked for is always true; with and without a context are two statements, because they are
 * read from two indices: a context has few tasks and is sorted, an owner's tasks lie in the order of the list.
 */
const OF_OWNER = `t.owner = ${OWNER_PK}`;
const IN_CONTEXT = `t.context = ${CONTEXT_PK}`;
const FILTERED = "t.status_at >= ? and (? = '' or t.state = ?)";
const BEHIND = 't.status_at <= ? and (t.status_at < ? or t.id < ?)';
const NEWEST_FIRST = `order by t.status_at desc, t.id desc ${LIMIT}`;
const SELECT_BY_PK = `${RECORDS} where t.pk = ?`;
const SUM_MESSAGES = `select coalesce(sum(octet_length(json)), 0) as bytes from message
  where task = ? and ordinal > ?`;
const SELECT_PAGE = `${KEYS} where ${OF_OWNER} and ${FILTERED} and ${BEHIND} ${NEWEST_FIRST}`;
const SELECT_CONTEXT_PAGE = `${KEYS} where ${IN_CONTEXT} and ${FILTERED} and ${BEHIND} ${NEWEST_FIRST}`;
const COUNT_TASKS = `select count(*) as total from task t where ${OF_OWNER} and ${FILTERED}`;
const COUNT_CONTEXT_TASKS = `select count(*) as total from task t where ${IN_CONTEXT} and ${FILTERED}`;

/** Later than any status. */
const END_OF_TIME = Number.MAX_SAFE_INTEGER;

type FilterValues = [since: number, anyState: string, state: string];
type BehindValues = [at: number, again: number, id: string];

export type Reads = Pick<TaskStore, 'read' | 'record' | 'state' | 'events' | 'list' | 'earlier' | 'due'>;

interface SizedRow {
  readonly pk: number;
  /** How many; the ordinal of the last one. */
  readonly messages: number;
  /** Without its history and artifacts. */
  readonly bytes: number;
}

interface SizedOptions extends ReadOptions {
  readonly maxBytes?: number;
}

interface ReadsOptions {
  readonly connection: Connection;
  readonly artifacts: Artifacts;
  readonly clock: Clock;
}

export function createReads({ connection, artifacts, clock }: ReadsOptions): Reads {
  const selectRecord: Query<[id: string, ...OwnerValues], RecordRow> = connection.prepare(SELECT_RECORD);
  const selectState: Query<[id: string, ...OwnerValues], { state: TaskState }> = connection.prepare(SELECT_STATE);
  const selectMessages: Query<[task: number, after: number], { json: string }> = connection.prepare(SELECT_MESSAGES);
  const selectEvents: Query<
    [id: string, ...OwnerValues, after: number, limit: number],
    { sequence: number; at: number; json: string }
  > = connection.prepare(SELECT_EVENTS);
  const selectEarlier: Query<[...OwnerValues, contextId: string, except: string, limit: number], SizedRow> =
    connection.prepare(SELECT_EARLIER);
  const selectDue: Query<[now: number, limit: number], { id: string }> = connection.prepare(SELECT_DUE);
  const selectByPk: Query<[pk: number], RecordRow> = connection.prepare(SELECT_BY_PK);
  const sumMessages: Query<[task: number, after: number], { bytes: number }> = connection.prepare(SUM_MESSAGES);
  const selectPage: Query<[...OwnerValues, ...FilterValues, ...BehindValues, limit: number], SizedRow> =
    connection.prepare(SELECT_PAGE);
  const selectContextPage: Query<
    [...OwnerValues, contextId: string, ...FilterValues, ...BehindValues, limit: number],
    SizedRow
  > = connection.prepare(SELECT_CONTEXT_PAGE);
  const countTasks: Query<[...OwnerValues, ...FilterValues], { total: number }> = connection.prepare(COUNT_TASKS);
  const countContextTasks: Query<[...OwnerValues, contextId: string, ...FilterValues], { total: number }> =
    connection.prepare(COUNT_CONTEXT_TASKS);

  /** The last `length` messages. */
  function history({ pk, messages }: RecordRow, length = messages): readonly Message[] {
    return selectMessages.all(pk, Math.max(0, messages - length)).map((row) => parseMessage(row.json));
  }

  function snapshot(row: RecordRow, options: ReadOptions): Snapshot {
    const record = toRecord(row);
    return {
      record,
      task: toTask(record, {
        ...(options.artifacts ? { artifacts: artifacts.read(row.pk) } : {}),
        ...(options.historyLength === 0 ? {} : { history: history(row, options.historyLength) }),
      }),
    };
  }

  /** The first of these tasks, as many as the budget allows and one at least. Only those are read. */
  function fitting(rows: readonly SizedRow[], options: SizedOptions): readonly Snapshot[] {
    const { maxBytes = Number.POSITIVE_INFINITY } = options;
    const snapshots: Snapshot[] = [];
    let bytes = 0;
    for (const row of rows) {
      const { historyLength = row.messages } = options;
      bytes += row.bytes;
      if (options.artifacts) bytes += artifacts.bytes(row.pk);
      if (historyLength > 0) bytes += sumMessages.get(row.pk, row.messages - historyLength)?.bytes ?? 0;
      if (bytes > maxBytes && snapshots.length > 0) break;
      const record = selectByPk.get(row.pk);
      if (record) snapshots.push(snapshot(record, options));
    }
    return snapshots;
  }

  return {
    read: async (owner, taskId, options) =>
      connection.snapshot(() => {
        const row = selectRecord.get(taskId, ...ownerValues(owner));
        return row && snapshot(row, options);
      }),

    record: async (owner, taskId) =>
      connection.read(() => {
        const row = selectRecord.get(taskId, ...ownerValues(owner));
        return row && toRecord(row);
      }),

    state: async (owner, taskId) => connection.read(() => selectState.get(taskId, ...ownerValues(owner))?.state),

    events: async (owner, taskId, after, limit) =>
      connection.read(() =>
        selectEvents.all(taskId, ...ownerValues(owner), after, limit).map(
          (row): StoredEvent => ({
            sequence: row.sequence,
            body: JSON.parse(row.json) as EventBody,
            at: row.at,
          }),
        ),
      ),

    list: async (owner, request) =>
      connection.snapshot(() => {
        const { contextId } = request.filter;
        const filter = filterValues(request.filter);
        const behind = behindValues(request.after);
        const limit = request.limit + 1;
        const rows =
          contextId === undefined
            ? selectPage.all(...ownerValues(owner), ...filter, ...behind, limit)
            : selectContextPage.all(...ownerValues(owner), contextId, ...filter, ...behind, limit);
        const total =
          contextId === undefined
            ? countTasks.get(...ownerValues(owner), ...filter)
            : countContextTasks.get(...ownerValues(owner), contextId, ...filter);
        const snapshots = fitting(rows.slice(0, request.limit), request);
        return {
          snapshots,
          total: total?.total ?? 0,
          more: rows.length > snapshots.length,
        };
      }),

    earlier: async (owner, contextId, exceptTaskId, limit) =>
      connection.snapshot(() => {
        const rows = selectEarlier.all(...ownerValues(owner), contextId, exceptTaskId, limit);
        return fitting(rows, { artifacts: false, maxBytes: LIMITS.listBytes }).map(({ task }) => task);
      }),

    due: async (limit) => connection.read(() => selectDue.all(clock.now(), limit).map((row) => row.id)),
  };
}

function toTask(record: TaskRecord, more: Pick<Task, 'artifacts' | 'history'>): Task {
  return {
    id: record.id,
    contextId: record.contextId,
    status: record.status,
    ...more,
    ...(record.metadata === undefined ? {} : { metadata: record.metadata }),
  };
}

function filterValues(filter: ListFilter): FilterValues {
  const state = filter.state ?? '';
  return [filter.statusSince ?? Number.MIN_SAFE_INTEGER, state, state];
}

function behindValues(after: { readonly statusAt: number; readonly id: string } | undefined): BehindValues {
  return after ? [after.statusAt, after.statusAt, after.id] : [END_OF_TIME, END_OF_TIME, ''];
}
