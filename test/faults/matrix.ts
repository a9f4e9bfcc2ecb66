import type { Fault } from './arm.ts';

/*
 * The kill matrix: where the process dies, what it leaves behind, and what becomes of it. The tests take their
 * expectations from here and docs/guarantees.md shows it; so neither can say something that the other does not.
 */

type State = 'SUBMITTED' | 'WORKING' | 'INPUT_REQUIRED' | 'AUTH_REQUIRED' | 'COMPLETED' | 'FAILED' | 'CANCELED';

/** What becomes of the task after the restart. */
export interface Ending {
  readonly state: State;
  /** How often the agent was started, over all processes. */
  readonly runs: number;
  /** How often the effect of its one step happened. */
  readonly effects: number;
}

export interface TaskRow {
  readonly fault?: Fault;
  /** State of the task in the database that the dead process leaves. */
  readonly left: State | 'no task' | { readonly rerun: State; readonly review: State };
  readonly rerun: Ending;
  readonly review: Ending;
  /** What the client does that saw its connection break. */
  readonly client: string;
  /** Its turn waits until it is claimed, also where it could begin with its message. */
  readonly waits?: true;
}

/** Of what only agents do that may start over. */
export type RerunRow = Omit<TaskRow, 'review'>;

export interface UpkeepRow {
  readonly fault: Fault;
  readonly left: string;
  readonly afterwards: string;
  readonly client: string;
}

const ACCEPTED = /^insert into request/;
const ACCEPTED_AND_BEGUN = /^insert into execution\s+\(task, ordinal, agent, attempt, outcome, lease_owner/;
const CLAIMED = /^update or fail execution set attempt = attempt \+ 1/;
const STEP_STARTED = /^insert into step \(task, ordinal, key, attempt, started_at\) values/;
const STEP_FINISHED = /^insert into step \(task, ordinal, key, attempt, started_at, finished_at, result\)/;
const CHUNK = /^insert into artifact_part/;
const EXECUTION_CLOSED = /^update (or fail )?execution\s+set outcome/;
const PURGED = /^delete from task where pk/;
const TENANT_REMOVED = /^insert into tenant .* removed /s;
const AUDITED = /^insert into audit/;
const TOKEN_STORED = /^insert into credential/;
const ended = (state: State) => new RegExp(`^update task set state.*TASK_STATE_${state}`, 's');

const done = (runs: number, effects: number): Ending => ({ state: 'COMPLETED', runs, effects });
const failed = (runs: number, effects: number): Ending => ({ state: 'FAILED', runs, effects });
const canceled = (runs: number): Ending => ({ state: 'CANCELED', runs, effects: 0 });

/** One turn, from the first message to the last frame. */
export const TURN = {
  'before the accept commit': {
    fault: { commit: 'before', wrote: ACCEPTED },
    left: 'no task',
    ...{ rerun: done(1, 1), review: done(1, 1) },
    client: 'sends again',
    waits: true,
  },
  'after the accept commit': {
    fault: { commit: 'after', wrote: ACCEPTED },
    left: 'SUBMITTED',
    ...{ rerun: done(1, 1), review: done(1, 1) },
    client: 'sends again',
    waits: true,
  },
  'before the claim commit': {
    fault: { commit: 'before', wrote: CLAIMED },
    left: 'SUBMITTED',
    ...{ rerun: done(1, 1), review: done(1, 1) },
    client: 'sends again',
    waits: true,
  },
  'between claim and run': {
    fault: { commit: 'after', wrote: CLAIMED },
    left: 'WORKING',
    ...{ rerun: done(1, 1), review: failed(0, 0) },
    client: 'sends again',
    waits: true,
  },
  'before the effect of a step': {
    fault: { commit: 'after', wrote: STEP_STARTED },
    left: 'WORKING',
    ...{ rerun: done(2, 1), review: failed(1, 0) },
    client: 'resumes its stream',
  },
  'after the effect of a step, before its commit': {
    fault: { commit: 'before', wrote: STEP_FINISHED },
    left: 'WORKING',
    ...{ rerun: done(2, 2), review: failed(1, 1) },
    client: 'resumes its stream',
  },
  'after the commit of a step': {
    fault: { commit: 'after', wrote: STEP_FINISHED },
    left: 'WORKING',
    ...{ rerun: done(2, 1), review: failed(1, 1) },
    client: 'resumes its stream',
  },
  'before the commit of an artifact chunk': {
    fault: { commit: 'before', wrote: CHUNK, nth: 3 },
    left: 'WORKING',
    ...{ rerun: done(2, 1), review: failed(1, 1) },
    client: 'resumes its stream',
  },
  'after an artifact chunk': {
    fault: { commit: 'after', wrote: CHUNK, nth: 3 },
    left: 'WORKING',
    ...{ rerun: done(2, 1), review: failed(1, 1) },
    client: 'resumes its stream',
  },
  'before the terminal commit': {
    fault: { commit: 'before', wrote: ended('COMPLETED') },
    left: 'WORKING',
    ...{ rerun: done(2, 1), review: failed(1, 1) },
    client: 'resumes its stream',
  },
  'after the terminal commit, before the last frame': {
    fault: { answer: /^(id: \d+\n)?data: [^\n]*TASK_STATE_COMPLETED/ },
    left: 'COMPLETED',
    ...{ rerun: done(1, 1), review: done(1, 1) },
    client: 'is told that the task has ended, and reads it',
  },
} as const satisfies Readonly<Record<string, TaskRow>>;

/** A turn that begins in the commit that accepts its message. */
export const BEGUN = {
  'before the commit that accepts a message and begins its turn': {
    fault: { commit: 'before', wrote: ACCEPTED_AND_BEGUN },
    left: 'no task',
    rerun: done(1, 1),
    client: 'sends again',
  },
  'after the commit that accepts a message and begins its turn': {
    fault: { commit: 'after', wrote: ACCEPTED_AND_BEGUN },
    left: 'WORKING',
    rerun: done(1, 1),
    client: 'sends again',
  },
} as const satisfies Readonly<Record<string, RerunRow>>;

/** What else is said about a task. */
export const CONVERSATION = {
  'before the answer to a call': {
    fault: { answer: /^\{"jsonrpc":.*"result":\{"task"/ },
    left: 'INPUT_REQUIRED',
    ...{ rerun: done(2, 0), review: done(2, 0) },
    client: 'sends again',
  },
  'before the commit of a follow-up': {
    fault: { commit: 'before', wrote: ACCEPTED, nth: 2 },
    left: 'INPUT_REQUIRED',
    ...{ rerun: done(2, 0), review: done(2, 0) },
    client: 'sends the follow-up again',
  },
  'after the commit of a follow-up': {
    fault: { commit: 'after', wrote: ACCEPTED, nth: 2 },
    left: 'WORKING',
    ...{ rerun: done(2, 0), review: done(2, 0) },
    client: 'sends the follow-up again',
  },
  'before the commit of a cancellation': {
    fault: { commit: 'before', wrote: ended('CANCELED') },
    left: 'WORKING',
    ...{ rerun: canceled(1), review: canceled(1) },
    client: 'cancels again',
  },
  'after the commit of a cancellation': {
    fault: { commit: 'after', wrote: ended('CANCELED') },
    left: 'CANCELED',
    ...{ rerun: canceled(1), review: canceled(1) },
    client: 'cancels again',
  },
  'before the commit of a passed deadline': {
    fault: { commit: 'before', wrote: ended('FAILED') },
    left: 'WORKING',
    ...{ rerun: failed(1, 0), review: failed(1, 0) },
    client: 'polls',
  },
  'after the commit of a passed deadline': {
    fault: { commit: 'after', wrote: ended('FAILED') },
    left: 'FAILED',
    ...{ rerun: failed(1, 0), review: failed(1, 0) },
    client: 'polls',
  },
} as const satisfies Readonly<Record<string, TaskRow>>;

/** After SIGTERM, with a turn that does not end by itself. */
export const SHUTDOWN = {
  'while a drain waits for a turn': {
    left: 'WORKING',
    ...{ rerun: done(2, 1), review: failed(1, 0) },
    client: 'resumes its stream',
  },
  'before the commit of a stopped turn': {
    fault: { commit: 'before', wrote: EXECUTION_CLOSED },
    left: 'WORKING',
    ...{ rerun: done(2, 1), review: failed(1, 0) },
    client: 'resumes its stream',
  },
  'after the commit of a stopped turn': {
    fault: { commit: 'after', wrote: EXECUTION_CLOSED },
    left: { rerun: 'WORKING', review: 'FAILED' },
    ...{ rerun: done(2, 1), review: failed(1, 0) },
    client: 'resumes its stream, or reads the task that has ended',
  },
  'at the end of a shutdown, before the database is closed': {
    fault: { close: true },
    left: { rerun: 'WORKING', review: 'FAILED' },
    ...{ rerun: done(2, 1), review: failed(1, 0) },
    client: 'resumes its stream, or reads the task that has ended',
  },
} as const satisfies Readonly<Record<string, TaskRow>>;

/** A person's token that a parked task waits for. */
export const CREDENTIAL = {
  'before the commit of a fresh token': {
    fault: { commit: 'before', wrote: TOKEN_STORED, nth: 2 },
    left: 'AUTH_REQUIRED',
    ...{ rerun: done(2, 0), review: done(2, 0) },
    client: 'polls again with that token',
  },
  'after the commit of a fresh token': {
    fault: { commit: 'after', wrote: TOKEN_STORED, nth: 2 },
    left: 'WORKING',
    ...{ rerun: done(2, 0), review: done(2, 0) },
    client: 'polls',
  },
} as const satisfies Readonly<Record<string, TaskRow>>;

export const MIGRATION = {
  'in the middle of the first migration': {
    fault: { statement: /^create table tenant/ },
    left: 'a database without a schema',
    afterwards: 'the next start makes the schema',
    client: 'had nothing accepted',
  },
  'in the middle of a later migration': {
    fault: { statement: /^create table credential/ },
    left: 'the schema before the step, all tasks',
    afterwards: 'the next start makes the step, no task is lost',
    client: 'finds its tasks as they were',
  },
  'between two migrations': {
    fault: { statement: /^create table if not exists migration/, nth: 2 },
    left: 'the schema after the first of them',
    afterwards: 'the next start makes the others',
    client: 'had nothing accepted',
  },
} as const satisfies Readonly<Record<string, UpkeepRow>>;

export const RETENTION = {
  'before the commit of a purge batch': {
    fault: { commit: 'before', wrote: PURGED },
    left: 'every finished task, whole',
    afterwards: 'the next start purges all of them and nothing else',
    client: 'finds no purged task, and its live one',
  },
  'after the commit of a purge batch': {
    fault: { commit: 'after', wrote: PURGED },
    left: 'one batch less, nothing half',
    afterwards: 'the next start purges the rest and nothing else',
    client: 'finds no purged task, and its live one',
  },
} as const satisfies Readonly<Record<string, UpkeepRow>>;

export const TENANT = {
  'before the commit of a removal': {
    fault: { commit: 'before', wrote: TENANT_REMOVED },
    left: 'the installation as it was',
    afterwards: 'it goes on until it is removed again',
    client: 'gets no answer, removes again, and has no access from then on',
  },
  'after the commit of a removal': {
    fault: { commit: 'after', wrote: TENANT_REMOVED },
    left: 'the installation removed, its tokens gone',
    afterwards: 'the next start erases all of it and runs none of it',
    client: 'gets no answer, and has no access',
  },
  'before the commit of an erasure batch': {
    fault: { commit: 'before', wrote: PURGED },
    left: 'the installation removed, every task whole',
    afterwards: 'the next start erases all of it and runs none of it',
    client: 'has no access',
  },
  'after the commit of an erasure batch': {
    fault: { commit: 'after', wrote: PURGED },
    left: 'the installation removed, one batch of tasks less',
    afterwards: 'the next start erases the rest and runs none of it',
    client: 'has no access',
  },
} as const satisfies Readonly<Record<string, UpkeepRow>>;

/** The operator's command line, beside a service that lives on. */
export const OPERATOR = {
  'before the commit of an operator’s retry': {
    fault: { commit: 'before', wrote: AUDITED },
    left: 'the failed task alone, no row in the audit',
    afterwards: 'the same command retries it, once',
    client: 'finds its failed task, and one more',
  },
  'after the commit of an operator’s retry': {
    fault: { commit: 'after', wrote: AUDITED },
    left: 'the new task with its row in the audit',
    afterwards: 'the new task runs once, the same command is refused',
    client: 'finds its failed task, and one more',
  },
  'before the commit of an operator’s cancellation': {
    fault: { commit: 'before', wrote: AUDITED },
    left: 'the task as it was, no row in the audit',
    afterwards: 'it goes on until it is canceled again',
    client: 'reads WORKING, then CANCELED',
  },
  'after the commit of an operator’s cancellation': {
    fault: { commit: 'after', wrote: AUDITED },
    left: 'the task canceled with its row in the audit',
    afterwards: 'its agent is stopped, the same command finds it done',
    client: 'reads CANCELED',
  },
  'before the commit of an operator’s pause': {
    fault: { commit: 'before', wrote: AUDITED },
    left: 'the tenant as it was, no row in the audit',
    afterwards: 'its turns run until it is paused again',
    client: 'is served as ever',
  },
  'after the commit of an operator’s pause': {
    fault: { commit: 'after', wrote: AUDITED },
    left: 'the tenant paused with its row in the audit',
    afterwards: 'its turns wait until it is resumed',
    client: 'is accepted and waits',
  },
  'before the commit of an operator’s erasure': {
    fault: { commit: 'before', wrote: AUDITED },
    left: 'the tenant as it was, no row in the audit',
    afterwards: 'it goes on until it is erased again',
    client: 'finds all its tasks until then',
  },
  'after the commit of an operator’s erasure': {
    fault: { commit: 'after', wrote: AUDITED },
    left: 'the tenant removed with its row in the audit, its tasks there',
    afterwards: 'the service erases all of it',
    client: 'finds none of its tasks',
  },
  'before the commit of a batch of an operator’s erasure': {
    fault: { commit: 'before', wrote: PURGED },
    left: 'the tenant removed with its row in the audit, its tasks there',
    afterwards: 'the service erases all of it',
    client: 'finds none of its tasks',
  },
} as const satisfies Readonly<Record<string, UpkeepRow>>;

const TASK_ROWS: Readonly<Record<string, TaskRow>> = { ...TURN, ...CONVERSATION, ...SHUTDOWN, ...CREDENTIAL };
const UPKEEP_ROWS: Readonly<Record<string, UpkeepRow>> = { ...MIGRATION, ...RETENTION, ...TENANT, ...OPERATOR };

/** Where a process can be told to die. */
export const FAULTS: ReadonlyMap<string, Fault> = new Map(
  Object.entries({ ...TASK_ROWS, ...BEGUN, ...UPKEEP_ROWS }).flatMap(([point, { fault }]) =>
    fault ? [[point, fault]] : [],
  ),
);

export function told({ state, runs, effects }: Ending): string {
  const times = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
  return `${state}, ${times(runs, 'run')}, ${times(effects, 'effect')}`;
}

export function leftBy({ left }: RerunRow, policy: 'rerun' | 'review'): State | 'no task' {
  return typeof left === 'object' ? left[policy] : left;
}

/** The matrix as docs/guarantees.md shows it. */
export function matrixTable(): string {
  const lines = [
    ['The process dies …', 'It leaves', '`rerun` agent', '`review` agent', 'The client'],
    ['---', '---', '---', '---', '---'],
    ...Object.entries(TASK_ROWS).map(([point, row]) => {
      const [rerun, review] = [leftBy(row, 'rerun'), leftBy(row, 'review')];
      const left = rerun === review ? rerun : `${rerun} (review: ${review})`;
      return [point, left, told(row.rerun), told(row.review), row.client];
    }),
    ...Object.entries<RerunRow>(BEGUN).map(([point, row]) => {
      return [point, leftBy(row, 'rerun'), told(row.rerun), 'its turn is claimed', row.client];
    }),
    ...Object.entries(UPKEEP_ROWS).map(([point, row]) => [point, row.left, row.afterwards, row.afterwards, row.client]),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
