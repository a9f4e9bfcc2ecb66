import type { JsonObject, Message } from '../../core/message.ts';
import type { AnswerKind, TaskRecord } from '../../core/ports/task-store.ts';
import type { TenantStatus } from '../../core/ports/tenants.ts';
import type { Owner } from '../../core/principal.ts';
import type { TaskStatus } from '../../core/task.ts';
import type { Unfinished } from './column-values.ts';
import type { Connection, Query } from './database.ts';
import type { OpenRow } from './executions.ts';
import { broken } from './failures.ts';

/** Columns and tables of a record; `t`, `o` and `x` are its task, owner and context. */
export const TASK_COLUMNS = `t.pk, t.id, t.delegate, x.id as context_id, t.sequence, t.messages, t.deadline_at,
  t.parked_ordinal, t.parked_hash, t.reply, t.created_at, t.updated_at, t.status, t.metadata`;
export const RECORD_COLUMNS = `${TASK_COLUMNS}, o.tenant, o.principal, o.agent`;
export const CONTEXT_JOIN = 'join context x on x.pk = t.context';
export const RECORD_JOINS = `join owner o on o.pk = t.owner ${CONTEXT_JOIN}`;
export const OWNER_PK = '(select pk from owner where tenant = ? and principal = ? and agent = ?)';

/** What a writing transaction must know besides. */
const HELD_COLUMNS = `${RECORD_COLUMNS}, t.owner as owner_pk, n.status as tenant_status, c.hash as credential_hash,
    c.expires_at as credential_expires_at`;
const HELD_JOINS = `${RECORD_JOINS}
  left join tenant n on n.id = o.tenant
  left join credential c on c.tenant = o.tenant and c.principal = o.principal`;
const HELD = `select ${HELD_COLUMNS} from task t ${HELD_JOINS}`;
/** With its open turn, if it has one; a second row says no more than that there are several, so they need no order. */
const HELD_OPEN = `select ${HELD_COLUMNS}, e.ordinal, e.attempt, e.lease_owner
  from task t ${HELD_JOINS}
  left join execution e indexed by execution_open on e.task = t.pk and e.outcome = 'open'`;
const AT_MOST_TWO = 'limit 2';

const SELECT_TASK = `${HELD_OPEN} where t.id = ? ${AT_MOST_TWO}`;
/** The owner is part of the search, so that another's task takes no longer to be refused than none. */
const SELECT_OWNED_TASK = `${HELD_OPEN} where t.id = ? and t.owner = ${OWNER_PK} ${AT_MOST_TWO}`;
const SELECT_TASK_BY_PK = `${HELD} where t.pk = ?`;
const SELECT_TURN = `select ${HELD_COLUMNS}, m.json as message
  from task t ${HELD_JOINS}
  join message m on m.task = t.pk and m.ordinal = ?
  where t.pk = ?`;
const SELECT_ACTIVE = `select t.pk from task t
  where t.owner = ${OWNER_PK} and t.ended = 0
    and t.context = (select x.pk from context x where x.owner = ${OWNER_PK} and x.id = ?)
  order by t.pk desc limit 1`;
const SELECT_PARKED = `select t.pk from owner o join task t on t.owner = o.pk
  where o.tenant = ? and o.principal = ? and t.ended = 0 and t.parked_hash <> ?
  order by t.pk`;
const SELECT_REFUSED = `select 1 as one from owner o join task t on t.owner = o.pk
  where o.tenant = ? and o.principal = ? and t.ended = 0 and t.parked_hash = ? limit 1`;
const SELECT_LIVE = `select 1 as one from owner o join task t on t.owner = o.pk
  where o.tenant = ? and o.principal = ? and t.ended = 0 limit 1`;
/** What is known before a message: who sends it, what waits for whom, and what an earlier one of its key has made. */
const SELECT_ARRIVAL = `select o.pk as owner, n.status, coalesce(l.waiting, 0) as waiting,
    coalesce(a.waiting, 0) as all_waiting, exists (select 1 from tenant_pause p where p.tenant = c.tenant)
      or exists (select 1 from runner_pause where id = 1) as paused,
    d.hash as credential_hash, d.expires_at as credential_expires_at, r.fingerprint, r.task, r.sequence, r.answer
  from (select ? as tenant, ? as principal, ? as agent) c
  left join owner o on o.tenant = c.tenant and o.principal = c.principal and o.agent = c.agent
  left join tenant n on n.id = c.tenant
  left join credential d on d.tenant = c.tenant and d.principal = c.principal
  left join lane l on l.agent = c.agent and l.tenant = c.tenant
  left join lane a on a.agent = c.agent and a.tenant = ''
  left join request r on r.owner = o.pk and r.context_id = ? and r.message_id = ?`;
const SUM_MESSAGES = 'select coalesce(sum(octet_length(json)), 0) as bytes from message where task = ?';
const SELECT_TENANT_STATUS = 'select status from tenant where id = ?';

export interface TaskRow {
  readonly pk: number;
  readonly id: string;
  readonly delegate: string | null;
  readonly context_id: string;
  readonly sequence: number;
  readonly messages: number;
  readonly deadline_at: number | null;
  readonly parked_ordinal: number | null;
  readonly parked_hash: string | null;
  readonly reply: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly status: string;
  readonly metadata: string | null;
}

export interface RecordRow extends TaskRow {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
}

interface CredentialColumns {
  readonly credential_hash: string | null;
  readonly credential_expires_at: number | null;
}

interface HeldRow extends RecordRow, CredentialColumns {
  readonly owner_pk: number;
  readonly tenant_status: TenantStatus | null;
}

interface HeldOpenRow extends HeldRow {
  readonly ordinal: number | null;
  readonly attempt: number;
  readonly lease_owner: string | null;
}

/** A task as a writing transaction holds it: made with all of its fields in this order, as every write has one in its hands. */
export interface Held {
  readonly pk: number;
  readonly owner: number;
  readonly record: TaskRecord;
  /** Its status and its metadata as they are stored. */
  readonly texts: HeldTexts;
  readonly tenant: TenantStatus;
  readonly credential: HeldCredential | undefined;
  /** Its open turns. Undefined: nobody has read them. */
  readonly open: readonly OpenRow[] | undefined;
}

export interface HeldTexts {
  readonly status: string;
  readonly metadata: string | null;
}

/** That of the task's principal, expired or not. */
export interface HeldCredential {
  readonly hash: string;
  readonly expiresAt: number;
}

interface RequestRow {
  readonly fingerprint: string;
  readonly task: number;
  readonly sequence: number;
  readonly answer: AnswerKind;
}

type NoRequest = { readonly [key in keyof RequestRow]: null };

type ArrivalRow = CredentialColumns & {
  readonly owner: number | null;
  readonly status: TenantStatus | null;
  readonly waiting: number;
  readonly all_waiting: number;
  readonly paused: number;
} & (RequestRow | NoRequest);

export interface Arrival {
  /** Undefined before its first task. */
  readonly owner: number | undefined;
  readonly tenant: TenantStatus;
  readonly credential: HeldCredential | undefined;
  /** Turns that wait: those of the tenant, and all of the agent. */
  readonly queued: { readonly tenant: number; readonly everybody: number };
  /** The tenant's turns are held back, or everybody's. */
  readonly paused: boolean;
  readonly request: RequestRow | undefined;
}

export function toRecord(row: RecordRow): TaskRecord {
  return toRecordOf({ tenant: row.tenant, principal: row.principal, agent: row.agent }, row);
}

/** For whoever asked for tasks of this owner: three texts less to read. */
export function toRecordOf(owner: Owner, row: TaskRow): TaskRecord {
  const record: Unfinished<TaskRecord> = {
    id: row.id,
    owner,
    contextId: row.context_id,
    status: JSON.parse(row.status) as TaskStatus,
    reply: row.reply === 1,
    sequence: row.sequence,
    messages: row.messages,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
  if (row.delegate !== null) record.delegate = row.delegate;
  if (row.metadata !== null) record.metadata = JSON.parse(row.metadata) as JsonObject;
  if (row.deadline_at !== null) record.deadlineAt = row.deadline_at;
  if (row.parked_ordinal !== null && row.parked_hash !== null) {
    record.parked = { ordinal: row.parked_ordinal, tokenHash: row.parked_hash };
  }
  return record;
}

/** The same record with a status and metadata of its own. */
export function storedRecord(record: TaskRecord, { status, metadata }: HeldTexts): TaskRecord {
  const stored = { ...record, status: JSON.parse(status) as TaskStatus };
  return metadata === null ? stored : { ...stored, metadata: JSON.parse(metadata) as JsonObject };
}

function toHeld(row: HeldRow, open?: readonly OpenRow[]): Held {
  return {
    pk: row.pk,
    owner: row.owner_pk,
    record: toRecord(row),
    texts: { status: row.status, metadata: row.metadata },
    tenant: row.tenant_status ?? 'active',
    credential: toCredential(row),
    open,
  };
}

function toHeldOpen([row, another]: readonly HeldOpenRow[]): Held | undefined {
  if (!row || another) return row && toHeld(row);
  const { ordinal, attempt, lease_owner } = row;
  return toHeld(row, ordinal === null ? [] : [{ ordinal, attempt, lease_owner }]);
}

function toCredential({ credential_hash: hash, credential_expires_at: expiresAt }: CredentialColumns) {
  return hash === null || expiresAt === null ? undefined : { hash, expiresAt };
}

export function parseMessage(json: string): Message {
  return JSON.parse(json) as Message;
}

/** The inside of a JSON array. */
export function parseMessages(json: string | null): readonly Message[] {
  return json === null ? [] : (JSON.parse(`[${json}]`) as readonly Message[]);
}

interface RequestKey {
  readonly contextId: string;
  readonly messageId: string;
}

/** What transactions read of tasks before they write. */
export interface TaskRows {
  byId(id: string): Held | undefined;
  /** Undefined also when it is somebody else's. */
  owned(owner: Owner, id: string): Held | undefined;
  byPk(pk: number): Held | undefined;
  /** With the message that the turn answers. */
  turn(pk: number, ordinal: number): { readonly held: Held; readonly message: Message } | undefined;
  /** The newest task of the context that is not terminal. */
  active(owner: Owner, contextId: string): Held | undefined;
  /** Some task of that person waits because this very token was refused. */
  isRefused(subject: { readonly tenant: string; readonly principal: string }, hash: string): boolean;
  /** Some live task of that person waits for another token than this one. */
  hasParked(subject: { readonly tenant: string; readonly principal: string }, hash: string): boolean;
  /** Those tasks. */
  parked(subject: { readonly tenant: string; readonly principal: string }, hash: string): readonly Held[];
  hasLive(tenant: string, principal: string): boolean;
  /** Without a key there is no request. */
  arrival(owner: Owner, key: RequestKey | undefined): Arrival;
  /** What the messages of the task take. */
  historyBytes(pk: number): number;
  tenantStatus(tenant: string): TenantStatus;
}

export type OwnerValues = [tenant: string, principal: string, agent: string];

export function ownerValues(owner: Owner): OwnerValues {
  return [owner.tenant, owner.principal, owner.agent];
}

export function createTaskRows(connection: Connection): TaskRows {
  const selectTask: Query<[id: string], HeldOpenRow> = connection.prepare(SELECT_TASK);
  const selectOwned: Query<[id: string, ...OwnerValues], HeldOpenRow> = connection.prepare(SELECT_OWNED_TASK);
  const selectTurn: Query<[ordinal: number, pk: number], HeldRow & { readonly message: string }> =
    connection.prepare(SELECT_TURN);
  const sumMessages: Query<[pk: number], { bytes: number }> = connection.prepare(SUM_MESSAGES);
  const selectByPk: Query<[pk: number], HeldRow> = connection.prepare(SELECT_TASK_BY_PK);
  const selectActive: Query<[...OwnerValues, ...OwnerValues, contextId: string], { pk: number }> =
    connection.prepare(SELECT_ACTIVE);
  const selectRefused: Query<[tenant: string, principal: string, hash: string], unknown> =
    connection.prepare(SELECT_REFUSED);
  const selectParked: Query<[tenant: string, principal: string, hash: string], { pk: number }> =
    connection.prepare(SELECT_PARKED);
  const selectLive: Query<[tenant: string, principal: string], unknown> = connection.prepare(SELECT_LIVE);
  const selectArrival: Query<[...OwnerValues, contextId: string, messageId: string | null], ArrivalRow> =
    connection.prepare(SELECT_ARRIVAL);
  const selectStatus: Query<[id: string], { status: TenantStatus }> = connection.prepare(SELECT_TENANT_STATUS);

  function byPk(pk: number): Held | undefined {
    const row = selectByPk.get(pk);
    return row && toHeld(row);
  }

  return {
    byId: (id) => toHeldOpen(selectTask.all(id)),
    owned: (owner, id) => toHeldOpen(selectOwned.all(id, owner.tenant, owner.principal, owner.agent)),
    byPk,
    turn(pk, ordinal) {
      const row = selectTurn.get(ordinal, pk);
      return row && { held: toHeld(row), message: parseMessage(row.message) };
    },
    active(owner, contextId) {
      const row = selectActive.get(...ownerValues(owner), ...ownerValues(owner), contextId);
      return row && byPk(row.pk);
    },
    isRefused: ({ tenant, principal }, hash) => selectRefused.get(tenant, principal, hash) !== undefined,
    hasParked: ({ tenant, principal }, hash) => selectParked.get(tenant, principal, hash) !== undefined,
    parked: (subject, hash) =>
      selectParked.all(subject.tenant, subject.principal, hash).flatMap(({ pk }) => byPk(pk) ?? []),
    hasLive: (tenant, principal) => selectLive.get(tenant, principal) !== undefined,
    arrival({ tenant, principal, agent }, key) {
      const row = selectArrival.get(tenant, principal, agent, key?.contextId ?? '', key?.messageId ?? null);
      if (!row) throw broken('a constant has no row');
      return {
        owner: row.owner ?? undefined,
        tenant: row.status ?? 'active',
        credential: toCredential(row),
        queued: { tenant: row.waiting, everybody: row.all_waiting },
        paused: row.paused === 1,
        request: row.task === null ? undefined : row,
      };
    },
    historyBytes: (pk) => sumMessages.get(pk)?.bytes ?? 0,
    tenantStatus: (tenant) => selectStatus.get(tenant)?.status ?? 'active',
  };
}
