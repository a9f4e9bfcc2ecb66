import { BEGUN_DOWN, BEGUN_UP } from './migration-begun.ts';
import { DUE_DOWN, DUE_UP } from './migration-due.ts';
import { ENDED_DOWN, ENDED_UP } from './migration-ended.ts';
import { LANES_DOWN, LANES_UP } from './migration-lanes.ts';
import { TERMINAL_DOWN, TERMINAL_UP } from './migration-terminal.ts';

/** One step of the schema. Released ones are never edited: a later step corrects an earlier one. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /** A program that does not know this step cannot work on a database that has it. */
  readonly breaking: boolean;
  readonly up: string;
  /** Undoes `up` and keeps every row that the older schema can hold. */
  readonly down: string;
}

/*
 * Times are epoch milliseconds of the store's clock. Texts compare byte-wise (SQLite's default collation).
 *
 * `pk` is private to these tables. An owner is three long texts, a context id up to 256 bytes and usually random: each
 * is in one row and one index, everything else holds eight bytes. What a commit costs is the number of pages it dirties,
 * and a random text dirties one page per index that holds it: with the texts in every index a group of 64 accepts wrote
 * 550 pages. Tables without a rowid keep the row in its key's tree, one tree instead of two.
 *
 * `terminal` is computed, so that it cannot disagree with the state (later steps read `ended` instead).
 *
 * `execution.claimable_at` is when the row may be claimed: when it becomes available, or, while leased, when the lease
 * runs out. One column means that the claim reads exactly what it can take from one index range.
 *
 * `artifact_writer` says which attempts have parts in an artifact, one row each: "did a lost attempt write here?" must
 * not look at the parts.
 */
const TASKS_UP = `
create table tenant (
  id text primary key,
  status text not null,
  attributes text not null,
  removed_at integer
) strict, without rowid;
create index tenant_removed on tenant (removed_at) where status = 'removed';

create table owner (
  pk integer primary key,
  tenant text not null,
  principal text not null,
  agent text not null,
  unique (tenant, principal, agent)
) strict;

create table context (
  pk integer primary key,
  owner integer not null references owner (pk),
  id text not null,
  created_at integer not null,
  unique (owner, id)
) strict;

create table task (
  pk integer primary key,
  id text not null unique,
  owner integer not null references owner (pk),
  context integer not null references context (pk),
  delegate text,
  state text not null,
  terminal integer not null as (
    state in ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')
  ) virtual,
  exclusive integer not null,
  sequence integer not null,
  messages integer not null,
  status_at integer not null,
  deadline_at integer,
  parked_ordinal integer,
  parked_hash text,
  reply integer not null,
  created_at integer not null,
  updated_at integer not null,
  status text not null,
  metadata text
) strict;
create index task_list on task (owner, status_at desc, id desc, state);
create index task_context on task (context);
create index task_live on task (owner, context) where terminal = 0;
create unique index task_exclusive on task (context) where exclusive = 1 and terminal = 0;
create index task_deadline on task (deadline_at) where terminal = 0 and deadline_at is not null;
create index task_ended on task (updated_at) where terminal = 1;

create table message (
  task integer not null references task (pk) on delete cascade,
  ordinal integer not null,
  json text not null,
  primary key (task, ordinal)
) strict, without rowid;

create table event (
  task integer not null references task (pk) on delete cascade,
  sequence integer not null,
  at integer not null,
  json text not null,
  primary key (task, sequence)
) strict, without rowid;

create table artifact (
  pk integer primary key,
  task integer not null references task (pk) on delete cascade,
  id text not null,
  name text,
  description text,
  metadata text,
  extensions text,
  unique (task, id)
) strict;

create table artifact_part (
  artifact integer not null references artifact (pk) on delete cascade,
  position integer not null,
  turn integer not null,
  attempt integer not null,
  joined integer not null,
  json text not null,
  primary key (artifact, position)
) strict, without rowid;

create table artifact_writer (
  artifact integer not null references artifact (pk) on delete cascade,
  turn integer not null,
  attempt integer not null,
  primary key (artifact, turn, attempt)
) strict, without rowid;

create table request (
  owner integer not null references owner (pk),
  context_id text not null,
  message_id text not null,
  fingerprint text not null,
  task integer not null references task (pk) on delete cascade,
  sequence integer not null,
  answer text not null,
  primary key (owner, context_id, message_id)
) strict, without rowid;
create index request_task on request (task);

create table execution (
  task integer not null references task (pk) on delete cascade,
  ordinal integer not null,
  agent text not null,
  attempt integer not null,
  outcome text not null,
  claimable_at integer not null,
  lease_owner text,
  lost integer not null,
  taken_by integer,
  opened_at integer not null,
  error text,
  trace text,
  primary key (task, ordinal)
) strict, without rowid;
create index execution_claim on execution (agent, claimable_at) where outcome = 'open';
create index execution_open on execution (task, ordinal) where outcome = 'open';
create index execution_lease on execution (lease_owner) where lease_owner is not null;
create index execution_taken on execution (task, taken_by) where taken_by is not null;

create table step (
  task integer not null references task (pk) on delete cascade,
  ordinal integer not null,
  key text not null,
  attempt integer not null,
  started_at integer not null,
  finished_at integer,
  result text,
  primary key (task, ordinal, key)
) strict, without rowid;

create table probe (
  id integer primary key check (id = 1),
  at integer not null
) strict;
`;

const TASKS_DOWN = `
drop table probe;
drop table step;
drop table execution;
drop table request;
drop table artifact_writer;
drop table artifact_part;
drop table artifact;
drop table event;
drop table message;
drop table task;
drop table context;
drop table owner;
drop table tenant;
`;

const CREDENTIALS_UP = `
create table credential (
  tenant text not null,
  principal text not null,
  hash text not null,
  expires_at integer not null,
  sealed text,
  primary key (tenant, principal)
) strict, without rowid;
create index credential_expiry on credential (expires_at);
`;

const CREDENTIALS_DOWN = 'drop table credential;';

/*
 * `claimable_at` of a turn that waits while its tenant is paused lies this far ahead of its own time. The claim, also an
 * older program's, never sees such a turn, however many there are, and none loses its place. Numbers are bound as
 * doubles, and SQLite stores a double in an integer column only below 2^51.
 */
export const HELD_MS = 2 ** 50;

/*
 * Rows of `audit` are only ever added; what they name may be gone. `task` is the task's public id for that reason.
 *
 * `turn_attempt` and `execution.ended_at` are for people who look at it afterwards: no rule reads them, and turns that an
 * older program claimed or ended have none.
 */
const OPERATORS_UP = `
create table audit (
  pk integer primary key,
  at integer not null,
  actor text not null,
  account text,
  act text not null,
  tenant text,
  principal text,
  task text,
  ordinal integer,
  reason text,
  detail text
) strict;
create index audit_task on audit (task) where task is not null;

create table tenant_pause (
  tenant text primary key,
  since integer not null
) strict, without rowid;

create table runner_pause (
  id integer primary key check (id = 1),
  since integer not null
) strict;

create table turn_attempt (
  task integer not null references task (pk) on delete cascade,
  ordinal integer not null,
  attempt integer not null,
  claimed_at integer not null,
  worker text not null,
  primary key (task, ordinal, attempt)
) strict, without rowid;

alter table execution add column ended_at integer;
alter table execution add column retried_as text;
create index execution_dead on execution (opened_at) where outcome = 'dead';
`;

/** An older program knows no pauses: what was held back waits for its turn. */
const OPERATORS_DOWN = `
update execution set claimable_at = claimable_at - ${HELD_MS} where claimable_at >= ${HELD_MS};
drop index execution_dead;
alter table execution drop column retried_as;
alter table execution drop column ended_at;
drop table turn_attempt;
drop table runner_pause;
drop table tenant_pause;
drop table audit;
`;

const PUSH_CONFIGS_UP = `
create table push_config (
  task integer not null references task (pk) on delete cascade,
  id text not null,
  url text not null,
  secrets text,
  created_at integer not null,
  primary key (task, id)
) strict, without rowid;
`;

const PUSH_CONFIGS_DOWN = 'drop table push_config;';

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'tasks', breaking: true, up: TASKS_UP, down: TASKS_DOWN },
  { version: 2, name: 'credentials', breaking: false, up: CREDENTIALS_UP, down: CREDENTIALS_DOWN },
  { version: 3, name: 'operators', breaking: false, up: OPERATORS_UP, down: OPERATORS_DOWN },
  { version: 4, name: 'push-configs', breaking: false, up: PUSH_CONFIGS_UP, down: PUSH_CONFIGS_DOWN },
  { version: 5, name: 'lanes', breaking: false, up: LANES_UP, down: LANES_DOWN },
  { version: 6, name: 'ended', breaking: false, up: ENDED_UP, down: ENDED_DOWN },
  { version: 7, name: 'due', breaking: false, up: DUE_UP, down: DUE_DOWN },
  { version: 8, name: 'terminal', breaking: false, up: TERMINAL_UP, down: TERMINAL_DOWN },
  { version: 9, name: 'begun', breaking: false, up: BEGUN_UP, down: BEGUN_DOWN },
];
