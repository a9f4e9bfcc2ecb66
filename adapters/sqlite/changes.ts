import type { EventBody } from '../../core/event.ts';
import type { Begun } from '../../core/ports/slots.ts';
import type { AcceptDecision, Change, LeaseRequest, NewTask, TaskRecord } from '../../core/ports/task-store.ts';
import type { Owner } from '../../core/principal.ts';
import { isInterrupted, isTerminal, type TaskState, type TaskStatus } from '../../core/task.ts';
import type { Artifacts } from './artifacts.ts';
import type { Unfinished } from './column-values.ts';
import type { Connection, Query } from './database.ts';
import type { Executions, Lease, OpenRow } from './executions.ts';
import { broken } from './failures.ts';
import type { Transaction } from './group-commit.ts';
import type { KeptTask, KeptTasks } from './kept-tasks.ts';
import { type Arrival, type Held, type HeldTexts, type OwnerValues, ownerValues, type TaskRows } from './task-rows.ts';
import type { WrittenEvent } from './told-events.ts';

/*
 * The one place where a task changes. It writes what a decide function returned and refuses what no decide function
 * may return: anything after the end, an event behind the one that ends the task, an end that leaves a turn open.
 */

const SELECT_OWNER = 'select pk from owner where tenant = ? and principal = ? and agent = ?';
const INSERT_OWNER = 'insert into owner (tenant, principal, agent) values (?, ?, ?)';
const SELECT_CONTEXT = 'select pk from context where owner = ? and id = ?';
const INSERT_CONTEXT = 'insert into context (owner, id, created_at) values (?, ?, ?)';
const INSERT_TASK = `insert into task (id, owner, context, delegate, exclusive,
    state, sequence, messages, status_at, deadline_at, parked_ordinal, parked_hash, reply, created_at, updated_at,
    status, metadata)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
/** Names no indexed column: an append must not touch the task's indices. */
const ADVANCE_TASK = 'update task set sequence = ?, messages = ?, updated_at = ? where pk = ?';
const UPDATE_TASK = `update task set state = ?, sequence = ?, messages = ?, status_at = ?, deadline_at = ?,
    parked_ordinal = ?, parked_hash = ?, reply = ?, updated_at = ?, status = ?, metadata = ?
  where pk = ?`;
const INSERT_MESSAGE = 'insert into message (task, ordinal, json) values (?, ?, ?)';
const INSERT_EVENT = 'insert into event (task, sequence, at, json) values (?, ?, ?, ?)';
const DELETE_CREDENTIAL = 'delete from credential where tenant = ? and principal = ?';
/** The one that did not do; whichever there is when it could not even be opened (`''`). */
const DELETE_REFUSED_CREDENTIAL = `delete from credential where tenant = ? and principal = ? and ? in (hash, '')`;

type InsertTask = [
  ...[id: string, owner: number, context: number, delegate: string | null],
  ...[exclusive: number, state: string, sequence: number, messages: number, statusAt: number],
  ...[deadlineAt: number | null, parkedOrdinal: number | null, parkedHash: string | null, reply: number],
  ...[createdAt: number, updatedAt: number, status: string, metadata: string | null],
];
type UpdateTask = [
  ...[state: string, sequence: number, messages: number, statusAt: number, deadlineAt: number | null],
  ...[parkedOrdinal: number | null, parkedHash: string | null, reply: number, updatedAt: number],
  ...[status: string, metadata: string | null, pk: number],
];

const NONE: readonly never[] = [];

interface Creation {
  readonly owner: Owner;
  readonly task: NewTask;
  readonly exclusive: boolean;
  readonly change: Change;
  /** What the transaction knows of the owner. */
  readonly arrival: Pick<Arrival, 'owner' | 'tenant' | 'credential'>;
  /** The context was made for this task, so there is none to look for. */
  readonly ownContext?: boolean;
  /** Its turn begins in the same transaction. */
  readonly begin?: Beginning | undefined;
}

interface Beginning {
  readonly change: NonNullable<Extract<AcceptDecision, { readonly kind: 'create' }>['begin']>;
  readonly lease: LeaseRequest;
}

/** As its message left it. */
export interface Created extends Pick<Held, 'pk' | 'owner' | 'record'> {
  readonly begun?: Begun;
}

export interface Changes {
  create(creation: Creation, tx: Transaction): Created;
  apply(held: Held, change: Change, tx: Transaction): Held;
}

interface ChangesOptions {
  readonly connection: Connection;
  readonly tasks: TaskRows;
  readonly kept: KeptTasks;
  readonly artifacts: Artifacts;
  readonly executions: Executions;
}

export function createChanges({ connection, tasks, kept, artifacts, executions }: ChangesOptions): Changes {
  const selectOwner: Query<OwnerValues, { pk: number }> = connection.prepare(SELECT_OWNER);
  const insertOwner: Query<OwnerValues, unknown> = connection.prepare(INSERT_OWNER, 'followed');
  const selectContext: Query<[owner: number, id: string], { pk: number }> = connection.prepare(SELECT_CONTEXT);
  const insertContext: Query<[owner: number, id: string, createdAt: number], unknown> = connection.prepare(
    INSERT_CONTEXT,
    'followed',
  );
  const insertTask: Query<InsertTask, unknown> = connection.prepare(INSERT_TASK, 'followed');
  const advanceTask: Query<[sequence: number, messages: number, updatedAt: number, pk: number], unknown> =
    connection.prepare(ADVANCE_TASK, 'followed');
  const updateTask: Query<UpdateTask, unknown> = connection.prepare(UPDATE_TASK, 'followed');
  const insertMessage: Query<[task: number, ordinal: number, json: string], unknown> =
    connection.prepare(INSERT_MESSAGE);
  const insertEvent: Query<[task: number, sequence: number, at: number, json: string], unknown> =
    connection.prepare(INSERT_EVENT);
  const deleteCredential: Query<[tenant: string, principal: string], unknown> = connection.prepare(DELETE_CREDENTIAL);
  const deleteRefused: Query<[tenant: string, principal: string, hash: string], unknown> =
    connection.prepare(DELETE_REFUSED_CREDENTIAL);

  function create(creation: Creation, tx: Transaction): Created {
    const { owner, task, change, begin } = creation;
    const { revision } = connection;
    if (!change.status) throw broken('a new task has no status');
    if (!change.events?.length) throw broken('a new task has no event');
    const blank: Unfinished<TaskRecord> = {
      id: task.id,
      owner,
      contextId: task.contextId,
      status: change.status,
      reply: false,
      sequence: 0,
      messages: 0,
      createdAt: tx.now,
      updatedAt: tx.now,
    };
    if (task.delegate !== undefined) blank.delegate = task.delegate;
    const accepted = changed(blank, change, tx.now);
    // One row for both, so that a turn which begins at once does not write it again.
    const record = begin ? changed(accepted, begin.change, tx.now) : accepted;
    const { tenant, credential, owner: known } = creation.arrival;
    const ownerPk = known ?? selectOwner.get(...ownerValues(owner))?.pk ?? insertOwner.insert(...ownerValues(owner));
    const context = creation.ownContext ? undefined : selectContext.get(ownerPk, task.contextId);
    const contextPk = context?.pk ?? insertContext.insert(ownerPk, task.contextId, tx.now);
    const { status, parked } = record;
    const texts = textsOf(record);
    const pk = insertTask.insert(
      record.id,
      ownerPk,
      contextPk,
      record.delegate ?? null,
      creation.exclusive ? 1 : 0,
      status.state,
      record.sequence,
      record.messages,
      statusAt(status),
      record.deadlineAt ?? null,
      parked?.ordinal ?? null,
      parked?.tokenHash ?? null,
      record.reply ? 1 : 0,
      record.createdAt,
      record.updatedAt,
      texts.status,
      texts.metadata,
    );
    const held: Held = { pk, owner: ownerPk, record: accepted, texts, tenant, credential, open: undefined };
    if (!begin) {
      writeChildren(held, { before: blank, change, lease: undefined }, tx);
      return held;
    }
    const { worker, leaseMs } = begin.lease;
    const turn = begun(record, creation, tx);
    const open = [{ ordinal: turn.fence.ordinal, attempt: turn.fence.attempt, lease_owner: worker }];
    const working: Held = { pk, owner: ownerPk, record, texts, tenant, credential, open };
    const both = { ...change, events: [...change.events, ...begin.change.events] };
    writeChildren(working, { before: blank, change: both, lease: { worker, until: tx.now + leaseMs } }, tx);
    keep(working, begin.change, revision);
    return { pk, owner: ownerPk, record: accepted, begun: turn };
  }

  function begun(record: TaskRecord, { change, begin }: Creation, tx: Transaction): Begun {
    const open = change.executions?.[0];
    if (!begin || !open || !('open' in open)) throw broken('a task begins without a turn');
    const { open: ordinal, trace } = open;
    const attempt = 1;
    const { id: taskId, contextId, owner, status, sequence } = record;
    const [from, to] = [change.status?.state, status.state];
    if (from && from !== to) {
      const turn = trace === undefined ? { ordinal, attempt } : { ordinal, attempt, trace };
      tx.moved({ taskId, contextId, owner, from, to, turn });
    }
    const fence = { taskId, ordinal, worker: begin.lease.worker, attempt };
    return trace === undefined ? { fence, status, sequence } : { fence, status, sequence, trace };
  }

  function apply(held: Held, change: Change, tx: Transaction): Held {
    const before = held.record;
    const { revision } = connection;
    if (isTerminal(before.status.state)) throw broken('a finished task cannot change');
    if (change.status?.state === 'TASK_STATE_SUBMITTED' && before.status.state !== 'TASK_STATE_SUBMITTED') {
      throw broken('a task cannot become submitted again');
    }
    const record = changed(before, change, tx.now);
    let { texts } = held;
    if (changesSnapshot(change)) {
      const { status, parked } = record;
      texts = textsOf(record);
      updateTask.run(
        status.state,
        record.sequence,
        record.messages,
        statusAt(status),
        record.deadlineAt ?? null,
        parked?.ordinal ?? null,
        parked?.tokenHash ?? null,
        record.reply ? 1 : 0,
        record.updatedAt,
        texts.status,
        texts.metadata,
        held.pk,
      );
    } else {
      advanceTask.run(record.sequence, record.messages, record.updatedAt, held.pk);
    }
    const { pk, owner, tenant, credential, open } = held;
    const after: Held = { pk, owner, record, texts, tenant, credential, open };
    writeChildren(after, { before, change, lease: undefined }, tx);
    keep(after, change, revision);
    const [from, to] = [before.status.state, record.status.state];
    if (from !== to) tx.moved({ taskId: record.id, contextId: record.contextId, owner: record.owner, from, to });
    return after;
  }

  /** Only while its turns stay as they were, and nothing that it was read from has changed with it since `revision`. */
  function keep(held: Held, { executions: writes = NONE }: Change, revision: number): void {
    if (hasOpen(held) && writes.length === 0 && connection.revision === revision) kept.keep(held);
    else kept.drop(held.record.id);
  }

  function writeChildren(
    held: Held,
    {
      before,
      change,
      lease,
    }: { readonly before: TaskRecord; readonly change: Change; readonly lease: Lease | undefined },
    tx: Transaction,
  ): void {
    const { pk, record } = held;
    let { messages, sequence } = before;
    const { events = NONE, executions: writes = NONE } = change;
    for (const message of change.messages ?? NONE) {
      messages += 1;
      insertMessage.run(pk, messages, JSON.stringify(message));
    }
    checkEnd(events, record.status.state);
    const written: WrittenEvent[] = [];
    for (const body of events) {
      sequence += 1;
      const text = JSON.stringify(body);
      insertEvent.run(pk, sequence, tx.now, text);
      written.push({ sequence, body, at: tx.now, text });
    }
    for (const artifact of change.artifacts ?? NONE) artifacts.write(pk, artifact);
    const task = { pk, owner: record.owner };
    for (const write of writes) {
      if (lease && 'open' in write) executions.openLeased(task, write, lease, tx.now);
      else executions.write(task, write, tx.now);
    }
    if (change.parked) deleteRefused.run(record.owner.tenant, record.owner.principal, change.parked.tokenHash);
    const ended = isTerminal(record.status.state);
    if (ended) end(held, change);
    if (events.length > 0) {
      const told = { first: before.sequence + 1, last: sequence, events: written, reply: record.reply };
      tx.notify(`task:${record.id}`, told);
    }
    if (ended || (change.status && isInterrupted(record.status.state))) tx.notify(`stop:${record.id}`);
    // Nobody can wait there for the message that a turn has just begun with.
    if ((change.messages?.length && !lease) || ended) tx.notify(`turn:${record.id}`);
    // A closed turn lets the next one of its task be claimed.
    if (writes.length > 0 && !ended && !lease) tx.notify('work');
  }

  function end(held: Held, change: Change): void {
    const left = held.open ? openAfter(held.open, change) : executions.open(held.pk).length;
    if (left > 0) throw broken('a finished task has an open turn');
    const { tenant, principal } = held.record.owner;
    if (held.credential && !tasks.hasLive(tenant, principal)) deleteCredential.run(tenant, principal);
  }

  return { create, apply };
}

function hasOpen(held: Held): held is KeptTask {
  return held.open !== undefined && held.open.length > 0;
}

/** How many turns are open after it: what a write closes was open, or it would have been refused. */
function openAfter(open: readonly OpenRow[], { executions = NONE }: Change): number {
  const [only] = executions;
  if (only && executions.length === 1 && open.length === 1 && 'close' in only) return 0;
  const ordinals = new Set(open.map(({ ordinal }) => ordinal));
  for (const write of executions) {
    if ('close' in write) ordinals.delete(write.close);
    else ordinals.add('open' in write ? write.open : write.requeue);
  }
  return ordinals.size;
}

function changed(before: TaskRecord, change: Change, now: number): TaskRecord {
  const record: Unfinished<TaskRecord> = {
    id: before.id,
    owner: before.owner,
    contextId: before.contextId,
    status: change.status ?? before.status,
    reply: change.reply ?? before.reply,
    sequence: before.sequence + (change.events?.length ?? 0),
    messages: before.messages + (change.messages?.length ?? 0),
    createdAt: before.createdAt,
    updatedAt: now,
  };
  const deadlineAt = change.deadlineAt === undefined ? before.deadlineAt : change.deadlineAt;
  const parked = change.parked === undefined ? before.parked : change.parked;
  const metadata = change.metadata ?? before.metadata;
  if (before.delegate !== undefined) record.delegate = before.delegate;
  if (metadata !== undefined) record.metadata = metadata;
  if (deadlineAt !== undefined && deadlineAt !== null) record.deadlineAt = deadlineAt;
  if (parked) record.parked = parked;
  return record;
}

function changesSnapshot(change: Change): boolean {
  return (
    change.status !== undefined ||
    change.metadata !== undefined ||
    change.reply !== undefined ||
    change.deadlineAt !== undefined ||
    change.parked !== undefined
  );
}

/** Streams and pushes end at the event that ends the task: there is one, it is the last, and it says what the row says. */
function checkEnd(events: readonly EventBody[], state: TaskState): void {
  if (isTerminal(state) && events.length === 0) throw broken('a task ends without an event');
  events.forEach((event, index) => {
    const shown = stateOf(event);
    if (!shown || !isTerminal(shown)) return;
    if (index < events.length - 1) throw broken('an event follows the end of its task');
    if (shown !== state) throw broken('an event says that its task has ended, its status does not');
  });
}

function stateOf(event: EventBody): TaskState | undefined {
  if ('statusUpdate' in event) return event.statusUpdate.status.state;
  if ('task' in event) return event.task.status.state;
  return undefined;
}

/** Lists are ordered by the status time that readers see, not by when the row was written. */
function statusAt(status: TaskStatus): number {
  const at = Date.parse(status.timestamp);
  if (Number.isNaN(at)) throw broken('a status has no valid timestamp');
  return at;
}

function textsOf({ status, metadata }: TaskRecord): HeldTexts {
  return { status: JSON.stringify(status), metadata: metadata === undefined ? null : JSON.stringify(metadata) };
}
