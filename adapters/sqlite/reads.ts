import type { EventBody, StoredEvent } from '../../core/event.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { ListFilter, ReadOptions, Snapshot, TaskStore } from '../../core/ports/task-store.ts';
import type { Owner } from '../../core/principal.ts';
import type { Task, TaskState } from '../../core/task.ts';
import { ARTIFACT_BYTES, ARTIFACTS_JSON, parseArtifacts } from './artifact-json.ts';
import type { Artifacts } from './artifacts.ts';
import type { Unfinished } from './column-values.ts';
import type { Connection, Query } from './database.ts';
import { LIMIT } from './limit.ts';
import {
  CONTEXT_JOIN,
  OWNER_PK,
  type OwnerValues,
  ownerValues,
  parseMessages,
  RECORD_JOINS,
  TASK_COLUMNS,
  type TaskRow,
  toRecordOf,
} from './task-rows.ts';

/*
 * A task with what hangs on it in one statement, which sees one commit without a transaction around it. Stored JSON is put
 * together as text and parsed once. Artifacts that take more bytes than the parameter are left out (null).
 */
const HISTORY_JSON = `(select group_concat(json, ',')
  from (select json from message where task = t.pk and ordinal > t.messages - ? order by ordinal))`;
const SNAPSHOTS = `select ${TASK_COLUMNS}, ${HISTORY_JSON} as history,
    case when ${ARTIFACT_BYTES} <= ? then ${ARTIFACTS_JSON} end as artifacts`;
const OF_TASK = 'where t.id = ? and o.tenant = ? and o.principal = ? and o.agent = ?';
const SELECT_SNAPSHOT = `${SNAPSHOTS} from task t ${RECORD_JOINS} ${OF_TASK}`;
const SELECT_RECORD = `select ${TASK_COLUMNS} from task t ${RECORD_JOINS} ${OF_TASK}`;
const SELECT_STATE = `select t.state from task t where t.id = ? and t.owner = ${OWNER_PK}`;
const SELECT_EVENTS = `select e.sequence, e.at, e.json from task t
  join event e on e.task = t.pk
  where t.id = ? and t.owner = ${OWNER_PK} and e.sequence > ? order by e.sequence ${LIMIT}`;
const CONTEXT_PK = `(select pk from context where owner = ${OWNER_PK} and id = ?)`;
/** The status may be long, too: what fits is chosen by size, before anything is read. */
const KEYS = `select t.pk, t.messages, t.sequence, octet_length(t.status) + coalesce(octet_length(t.metadata), 0) as bytes
  from task t`;
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
/** Tasks by their keys, a JSON array. */
const OF_KEYS = 'from json_each(?) k cross join task t on t.pk = k.value';
const SELECT_SNAPSHOTS = `${SNAPSHOTS} ${OF_KEYS} ${CONTEXT_JOIN}`;
const SELECT_SIZES = `select t.pk,
    coalesce((select sum(octet_length(json)) from message where task = t.pk and ordinal > t.messages - ?), 0)
      + case when ? = 1 then ${ARTIFACT_BYTES} else 0 end as bytes
  ${OF_KEYS}`;
const SELECT_PAGE = `${KEYS} where ${OF_OWNER} and ${FILTERED} and ${BEHIND} ${NEWEST_FIRST}`;
const SELECT_CONTEXT_PAGE = `${KEYS} where ${IN_CONTEXT} and ${FILTERED} and ${BEHIND} ${NEWEST_FIRST}`;
const COUNT_TASKS = `select count(*) as total from task t where ${OF_OWNER} and ${FILTERED}`;
const COUNT_CONTEXT_TASKS = `select count(*) as total from task t where ${IN_CONTEXT} and ${FILTERED}`;

/** Above this the rows of artifacts are read one by one. */
const INLINE_BYTES = 64_000;
/** More than any history has. */
const WHOLE = Number.MAX_SAFE_INTEGER;
/** Rows that are looked at to learn how much the next tasks take. */
const SIZED_ROWS = 2_000;
/** Later than any status. */
const END_OF_TIME = Number.MAX_SAFE_INTEGER;

type FilterValues = [since: number, anyState: string, state: string];
type BehindValues = [at: number, again: number, id: string];

export type Reads = Pick<TaskStore, 'read' | 'record' | 'state' | 'events' | 'list' | 'earlier' | 'due'>;

type SnapshotValues = [historyLength: number, artifactBytes: number];

interface SnapshotRow extends TaskRow {
  readonly history: string | null;
  readonly artifacts: string | null;
}

interface SizedRow {
  readonly pk: number;
  /** How many; the ordinal of the last one. */
  readonly messages: number;
  /** How many events. */
  readonly sequence: number;
  /** Without its history and artifacts. */
  readonly bytes: number;
}

interface SizedOptions extends ReadOptions {
  readonly owner: Owner;
  readonly maxBytes?: number;
}

interface ReadsOptions {
  readonly connection: Connection;
  readonly artifacts: Artifacts;
  readonly clock: Clock;
}

export function createReads({ connection, artifacts, clock }: ReadsOptions): Reads {
  const selectSnapshot: Query<[...SnapshotValues, id: string, ...OwnerValues], SnapshotRow> =
    connection.prepare(SELECT_SNAPSHOT);
  const selectSnapshots: Query<[...SnapshotValues, keys: string], SnapshotRow> = connection.prepare(SELECT_SNAPSHOTS);
  const selectSizes: Query<[historyLength: number, artifacts: number, keys: string], { pk: number; bytes: number }> =
    connection.prepare(SELECT_SIZES);
  const selectRecord: Query<[id: string, ...OwnerValues], TaskRow> = connection.prepare(SELECT_RECORD);
  const selectState: Query<[id: string, ...OwnerValues], { state: TaskState }> = connection.prepare(SELECT_STATE);
  const selectEvents: Query<
    [id: string, ...OwnerValues, after: number, limit: number],
    { sequence: number; at: number; json: string }
  > = connection.prepare(SELECT_EVENTS);
  const selectEarlier: Query<[...OwnerValues, contextId: string, except: string, limit: number], SizedRow> =
    connection.prepare(SELECT_EARLIER);
  const selectDue: Query<[now: number, limit: number], { id: string }> = connection.prepare(SELECT_DUE);
  const selectPage: Query<[...OwnerValues, ...FilterValues, ...BehindValues, limit: number], SizedRow> =
    connection.prepare(SELECT_PAGE);
  const selectContextPage: Query<
    [...OwnerValues, contextId: string, ...FilterValues, ...BehindValues, limit: number],
    SizedRow
  > = connection.prepare(SELECT_CONTEXT_PAGE);
  const countTasks: Query<[...OwnerValues, ...FilterValues], { total: number }> = connection.prepare(COUNT_TASKS);
  const countContextTasks: Query<[...OwnerValues, contextId: string, ...FilterValues], { total: number }> =
    connection.prepare(COUNT_CONTEXT_TASKS);

  function snapshot(owner: Owner, row: SnapshotRow, options: ReadOptions): Snapshot {
    const record = toRecordOf(owner, row);
    const task: Unfinished<Task> = { id: record.id, contextId: record.contextId, status: record.status };
    if (options.artifacts) {
      task.artifacts = row.artifacts === null ? artifacts.read(row.pk) : parseArtifacts(row.artifacts);
    }
    if (options.historyLength !== 0) task.history = parseMessages(row.history);
    if (record.metadata !== undefined) task.metadata = record.metadata;
    return { record, task };
  }

  /** What the next of these tasks take beside their own row: of as many as can be told with little work. */
  function sizesOf(rows: readonly SizedRow[], options: ReadOptions): ReadonlyMap<number, number> {
    const { historyLength = WHOLE } = options;
    const keys: number[] = [];
    let looked = 0;
    for (const row of rows) {
      looked += Math.min(row.messages, historyLength) + (options.artifacts ? row.sequence : 0);
      if (looked > SIZED_ROWS && keys.length > 0) break;
      keys.push(row.pk);
    }
    const sizes = selectSizes.all(historyLength, options.artifacts ? 1 : 0, JSON.stringify(keys));
    return new Map(sizes.map(({ pk, bytes }) => [pk, bytes]));
  }

  /** The first of these tasks, as many as the budget allows and one at least. Only those are read. */
  function fitting(rows: readonly SizedRow[], options: SizedOptions): readonly Snapshot[] {
    const { maxBytes = Number.POSITIVE_INFINITY, historyLength = WHOLE } = options;
    const keys: number[] = [];
    let sizes: ReadonlyMap<number, number> | undefined;
    let bytes = 0;
    for (const [index, row] of rows.entries()) {
      bytes += row.bytes;
      if (options.artifacts || historyLength > 0) {
        if (!sizes?.has(row.pk)) sizes = sizesOf(rows.slice(index), options);
        bytes += sizes.get(row.pk) ?? 0;
      }
      if (bytes > maxBytes && keys.length > 0) break;
      keys.push(row.pk);
    }
    if (keys.length === 0) return [];
    const found = selectSnapshots.all(historyLength, inlineBytes(options), JSON.stringify(keys));
    const byKey = new Map(found.map((row) => [row.pk, row]));
    return keys.flatMap((pk) => {
      const row = byKey.get(pk);
      return row ? [snapshot(options.owner, row, options)] : [];
    });
  }

  return {
    async read(owner, taskId, options) {
      const { historyLength = WHOLE } = options;
      const find = () => selectSnapshot.get(historyLength, inlineBytes(options), taskId, ...ownerValues(owner));
      const row = connection.read(find);
      if (!row) return undefined;
      if (row.artifacts !== null || !options.artifacts) return snapshot(owner, row, options);
      return connection.snapshot(() => {
        const again = find();
        return again && snapshot(owner, again, options);
      });
    },

    record: async (owner, taskId) =>
      connection.read(() => {
        const row = selectRecord.get(taskId, ...ownerValues(owner));
        return row && toRecordOf(owner, row);
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
        const snapshots = fitting(rows.slice(0, request.limit), { ...request, owner });
        return {
          snapshots,
          total: total?.total ?? 0,
          more: rows.length > snapshots.length,
        };
      }),

    earlier: async (owner, contextId, exceptTaskId, limit) =>
      connection.snapshot(() => {
        const rows = selectEarlier.all(...ownerValues(owner), contextId, exceptTaskId, limit);
        return fitting(rows, { owner, artifacts: false, maxBytes: LIMITS.listBytes }).map(({ task }) => task);
      }),

    due: async (limit) => connection.read(() => selectDue.all(clock.now(), limit).map((row) => row.id)),
  };
}

function inlineBytes({ artifacts }: ReadOptions): number {
  return artifacts ? INLINE_BYTES : -1;
}

function filterValues(filter: ListFilter): FilterValues {
  const state = filter.state ?? '';
  return [filter.statusSince ?? Number.MIN_SAFE_INTEGER, state, state];
}

function behindValues(after: { readonly statusAt: number; readonly id: string } | undefined): BehindValues {
  return after ? [after.statusAt, after.statusAt, after.id] : [END_OF_TIME, END_OF_TIME, ''];
}
