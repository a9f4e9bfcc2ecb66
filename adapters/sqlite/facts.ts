import BetterSqlite3 from 'better-sqlite3';
import type { Owner } from '../../core/principal.ts';
import type {
  ArtifactFacts,
  AttemptFacts,
  DamageFacts,
  ExecutionFacts,
  PartFacts,
  PushConfigFacts,
  RequestFacts,
  StepFacts,
  StoredFacts,
  TaskFacts,
} from '../../core/verify/stored-facts.ts';
import { bookFacts } from './book-facts.ts';
import { present } from './column-values.ts';
import { integrityDamage, laneDamage, orphanDamage, schemaDamage } from './damage.ts';
import { refusal, requireFile } from './database.ts';
import { HELD_MS, MIGRATIONS } from './migrations.ts';
import { SqliteOpenError } from './open-error.ts';

/*
 * The rows of a database as the verifier wants them. One read transaction from the first look to the last, so that a
 * service may go on writing meanwhile; its write-ahead log cannot be cut back until this is closed. Every join is an
 * outer one: a row whose parent is gone must be seen.
 */

const ENDED = "('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')";
const SELECT_TASKS = `select t.pk, t.id, t.exclusive, t.state, t.status, t.status_at, t.metadata, t.reply, t.sequence,
    t.messages, t.deadline_at, t.parked_ordinal, t.parked_hash,
    o.tenant, o.principal, o.agent, x.id as context_id, coalesce(x.owner = t.owner, 0) as own_context,
    (select count(*) from task other where other.context = t.context and other.exclusive = 1
      and other.state not in ${ENDED}) as live_exclusive,
    exists (select 1 from tenant_pause p where p.tenant = o.tenant) as tenant_paused
  from task t left join owner o on o.pk = t.owner left join context x on x.pk = t.context
  order by t.pk`;
const SELECT_MESSAGES = 'select ordinal, json from message where task = ? order by ordinal';
const SELECT_EVENTS = 'select sequence, json from event where task = ? order by sequence';
const SELECT_ARTIFACTS =
  'select pk, id, name, description, metadata, extensions from artifact where task = ? order by pk';
const SELECT_PARTS = `select p.position, p.turn, p.attempt, p.json,
    exists (select 1 from artifact_writer w
      where w.artifact = p.artifact and w.turn = p.turn and w.attempt = p.attempt) as writer_known
  from artifact_part p where p.artifact = ? order by p.position`;
const SELECT_REQUESTS = `select r.message_id, r.sequence, r.answer, o.tenant, o.principal, o.agent
  from request r left join owner o on o.pk = r.owner where r.task = ? order by r.sequence, r.message_id`;
const SELECT_EXECUTIONS = `select ordinal, agent, attempt, outcome, claimable_at, lease_owner, taken_by, ended_at,
    error, retried_as
  from execution where task = ? order by ordinal`;
const SELECT_STEPS = 'select ordinal, key, attempt, finished_at, result from step where task = ? order by ordinal, key';
const SELECT_ATTEMPTS = `select ordinal, attempt, claimed_at as claimedAt, worker from attempt
  where task = ? order by ordinal, attempt`;
const SELECT_PUSH_CONFIGS = 'select id, url, secrets from push_config where task = ? order by id';
const SELECT_APPLIED = 'select version, breaking from migration';
const SELECT_LEDGER_EXISTS = "select 1 as one from sqlite_schema where type = 'table' and name = 'migration'";

/** Another process may be recovering the write-ahead log. */
const BUSY_MS = 5_000;

export interface SqliteFacts extends StoredFacts {
  close(): void;
}

export interface SqliteFactsOptions {
  readonly path: string;
  /** Epoch milliseconds of the clock that the service on this file goes by. */
  readonly now: number;
}

/**
 * Opens a file without changing it. Throws SqliteOpenError: it is missing, no database, or its schema is not the one
 * that this program knows.
 */
export function openSqliteFacts({ path, now }: SqliteFactsOptions): SqliteFacts {
  let db: BetterSqlite3.Database | undefined;
  try {
    requireFile(path);
    db = new BetterSqlite3(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
    db.exec('begin');
    checkVersion(db, path);
    return createFacts(db, now);
  } catch (error) {
    db?.close();
    throw refusal(path, error);
  }
}

function checkVersion(db: BetterSqlite3.Database, path: string): void {
  if (db.prepare(SELECT_LEDGER_EXISTS).get() === undefined) {
    throw new SqliteOpenError('UNUSABLE', `this is no database of this service: ${path}`);
  }
  const applied = db.prepare<[], { version: number; breaking: number }>(SELECT_APPLIED).all();
  const known = new Set(MIGRATIONS.map(({ version }) => version));
  if (applied.some(({ version, breaking }) => breaking === 1 && !known.has(version))) {
    throw new SqliteOpenError('NEWER_SCHEMA', `a newer program made this database, use its verifier: ${path}`);
  }
  const versions = new Set(applied.map(({ version }) => version));
  if (MIGRATIONS.some(({ version }) => !versions.has(version))) {
    throw new SqliteOpenError('UNUSABLE', `the schema is of an older program, start this one once before: ${path}`);
  }
}

interface OwnerRow {
  readonly tenant: string | null;
  readonly principal: string | null;
  readonly agent: string | null;
}

interface TaskRow extends OwnerRow {
  readonly pk: number;
  readonly id: string;
  readonly exclusive: number;
  readonly state: string;
  readonly status: string;
  readonly status_at: number;
  readonly metadata: string | null;
  readonly reply: number;
  readonly sequence: number;
  readonly messages: number;
  readonly deadline_at: number | null;
  readonly parked_ordinal: number | null;
  readonly parked_hash: string | null;
  readonly context_id: string | null;
  readonly own_context: number;
  readonly live_exclusive: number;
  readonly tenant_paused: number;
}

interface ArtifactRow {
  readonly pk: number;
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly metadata: string | null;
  readonly extensions: string | null;
}

interface PartRow extends Omit<PartFacts, 'writerKnown'> {
  readonly writer_known: number;
}

interface RequestRow extends OwnerRow {
  readonly message_id: string;
  readonly sequence: number;
  readonly answer: string;
}

interface ExecutionRow {
  readonly ordinal: number;
  readonly agent: string;
  readonly attempt: number;
  readonly outcome: string;
  readonly claimable_at: number;
  readonly lease_owner: string | null;
  readonly taken_by: number | null;
  readonly ended_at: number | null;
  readonly error: string | null;
  readonly retried_as: string | null;
}

interface StepRow {
  readonly ordinal: number;
  readonly key: string;
  readonly attempt: number;
  readonly finished_at: number | null;
  readonly result: string | null;
}

function createFacts(db: BetterSqlite3.Database, now: number): SqliteFacts {
  /** Row by row: one task may have more events than fit the memory. */
  function of<Row, Facts>(sql: string, toFacts: (row: Row) => Facts): (key: number) => Iterable<Facts> {
    const statement = db.prepare<[number], Row>(sql);
    return function* rows(key) {
      for (const row of statement.iterate(key)) yield toFacts(row);
    };
  }

  const ofTask = {
    history: of(SELECT_MESSAGES, (row: { ordinal: number; json: string }) => row),
    events: of(SELECT_EVENTS, (row: { sequence: number; json: string }) => row),
    requests: of(SELECT_REQUESTS, toRequest),
    executions: of(SELECT_EXECUTIONS, toExecution),
    steps: of(SELECT_STEPS, toStep),
    attempts: of(SELECT_ATTEMPTS, (row: AttemptFacts) => row),
    pushConfigs: of(SELECT_PUSH_CONFIGS, toPushConfig),
  };
  const parts = of(SELECT_PARTS, ({ writer_known, ...part }: PartRow) => ({
    ...part,
    writerKnown: writer_known === 1,
  }));
  const artifacts = of(SELECT_ARTIFACTS, (row: ArtifactRow): ArtifactFacts => toArtifact(row, () => parts(row.pk)));
  const selectTasks = db.prepare<[], TaskRow>(SELECT_TASKS);
  return {
    now,
    *damage(): Generator<DamageFacts> {
      yield* integrityDamage(db);
      yield* schemaDamage(db);
      yield* orphanDamage(db);
      yield* laneDamage(db);
    },
    *tasks() {
      for (const row of selectTasks.iterate()) {
        const { pk } = row;
        yield {
          ...toTask(row),
          history: () => ofTask.history(pk),
          events: () => ofTask.events(pk),
          artifacts: () => artifacts(pk),
          requests: () => ofTask.requests(pk),
          executions: () => ofTask.executions(pk),
          steps: () => ofTask.steps(pk),
          attempts: () => ofTask.attempts(pk),
          pushConfigs: () => ofTask.pushConfigs(pk),
        };
      }
    },
    ...bookFacts(db, now),
    close: () => db.close(),
  };
}

function toOwner({ tenant, principal, agent }: OwnerRow): { readonly owner?: Owner } {
  return tenant === null || principal === null || agent === null ? {} : { owner: { tenant, principal, agent } };
}

/** Without what is read when it is asked for. */
type TaskColumns = { [K in keyof TaskFacts as TaskFacts[K] extends () => unknown ? never : K]: TaskFacts[K] };

function toTask(row: TaskRow): TaskColumns {
  return {
    id: row.id,
    ...toOwner(row),
    ...(row.context_id === null
      ? {}
      : { context: { id: row.context_id, own: row.own_context === 1, liveExclusive: row.live_exclusive } }),
    exclusive: row.exclusive === 1,
    state: row.state,
    statusJson: row.status,
    statusAt: row.status_at,
    ...present('metadataJson', row.metadata),
    reply: row.reply === 1,
    sequence: row.sequence,
    messages: row.messages,
    ...present('deadlineAt', row.deadline_at),
    ...present('parkedOrdinal', row.parked_ordinal),
    ...present('parkedHash', row.parked_hash),
    tenantPaused: row.tenant_paused === 1,
  };
}

function toArtifact(row: ArtifactRow, parts: () => Iterable<PartFacts>): ArtifactFacts {
  return {
    id: row.id,
    ...present('name', row.name),
    ...present('description', row.description),
    ...present('metadataJson', row.metadata),
    ...present('extensionsJson', row.extensions),
    parts,
  };
}

function toRequest(row: RequestRow): RequestFacts {
  return { messageId: row.message_id, ...toOwner(row), sequence: row.sequence, answer: row.answer };
}

function toExecution(row: ExecutionRow): ExecutionFacts {
  return {
    ordinal: row.ordinal,
    agent: row.agent,
    attempt: row.attempt,
    outcome: row.outcome,
    claimableAt: row.claimable_at,
    ...present('leaseOwner', row.lease_owner),
    ...present('takenBy', row.taken_by),
    held: row.claimable_at >= HELD_MS,
    ended: row.ended_at !== null,
    ...present('error', row.error),
    ...present('retriedAs', row.retried_as),
  };
}

function toStep(row: StepRow): StepFacts {
  return {
    ordinal: row.ordinal,
    key: row.key,
    attempt: row.attempt,
    finished: row.finished_at !== null,
    ...present('resultJson', row.result),
  };
}

function toPushConfig(row: { id: string; url: string; secrets: string | null }): PushConfigFacts {
  return { id: row.id, url: row.url, ...present('secretsJson', row.secrets) };
}
