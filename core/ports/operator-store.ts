import type { JsonObject, Message } from '../message.ts';
import type { Owner } from '../principal.ts';
import type { TaskState } from '../task.ts';
import type { Change, ExecutionOutcome, NewTask, TaskRecord, TaskView } from './task-store.ts';
import type { TenantStatus } from './tenants.ts';

/*
 * What an operator sees and does, over all tenants, beside running services. Every act that changes something writes its
 * audit row in the same commit; one that finds its work done already changes nothing and writes none. Acts reject with
 * OperatorRefusal, or with DomainError STORE_UNAVAILABLE. Times are epoch milliseconds of the store's clock.
 *
 * Nothing in here shows a credential.
 */

/** Who acts, and why. */
export interface Act {
  readonly actor: string;
  /** Account of the operating system, when the actor goes by another name. */
  readonly account?: string;
  readonly reason?: string;
}

export const OPERATOR_ACTS = [
  'execution.retry',
  'execution.close',
  'task.cancel',
  'tenant.pause',
  'tenant.resume',
  'tenant.erase',
  'tenant.restore',
  'principal.erase',
  'runner.pause',
  'runner.resume',
] as const;
export type ActName = (typeof OPERATOR_ACTS)[number];

export interface AuditEntry extends Act {
  /** Grows from act to act. */
  readonly number: number;
  readonly at: number;
  readonly act: ActName;
  readonly tenant?: string;
  /** A pseudonym, as the log shows it: what was erased must not live on in here. */
  readonly principal?: string;
  readonly taskId?: string;
  readonly ordinal?: number;
  readonly detail?: JsonObject;
}

/** An execution as an operator sees it. */
export interface TurnEntry {
  /** Ordinal of the message that it answers. */
  readonly ordinal: number;
  readonly outcome: ExecutionOutcome;
  /** How often it was claimed. */
  readonly attempts: number;
  readonly openedAt: number;
  /** Process that had the last attempt. */
  readonly worker?: string;
  readonly endedAt?: number;
  /** While it is open and somebody holds it: until when, live or not. */
  readonly leasedUntil?: number;
  /** Open, and not to be run because its tenant is paused. */
  readonly held: boolean;
  /** The turn whose inbox handed its message over. */
  readonly takenBy?: number;
  readonly error?: string;
  readonly trace?: string;
  /** Task that an operator's retry made of it, the newest one. */
  readonly retriedAs?: string;
}

export interface ExecutionEntry extends TurnEntry {
  readonly taskId: string;
  readonly owner: Owner;
  readonly contextId: string;
  readonly state: TaskState;
}

export interface ExecutionQuery {
  /** `dead` wait for an operator, `open` wait or run. */
  readonly outcome: 'dead' | 'open';
  readonly tenant?: string;
  readonly limit: number;
}

export interface TaskQuery {
  readonly tenant?: string;
  readonly principal?: string;
  readonly contextId?: string;
  readonly state?: TaskState;
  readonly limit: number;
}

/** A turn was claimed by a process. */
export interface AttemptEntry {
  readonly ordinal: number;
  readonly attempt: number;
  readonly claimedAt: number;
  readonly worker: string;
}

export interface StepEntry {
  readonly ordinal: number;
  readonly key: string;
  /** The attempt that started or repeated it. */
  readonly attempt: number;
  readonly startedAt: number;
  readonly finishedAt?: number;
  /** Length of its result as JSON; absent while there is none. What it holds is the agent's business. */
  readonly resultChars?: number;
}

/** All that is known of a task but its events and artifacts. One commit's state. */
export interface TaskFile {
  readonly record: TaskRecord;
  /** No other task of its context may be live. */
  readonly exclusive: boolean;
  readonly tenant: TenantStatus;
  readonly tenantPausedAt?: number;
  /** Ordinals 1, 2, 3 … */
  readonly messages: readonly Message[];
  readonly turns: readonly TurnEntry[];
  readonly attempts: readonly AttemptEntry[];
  readonly steps: readonly StepEntry[];
  /** Acts on this task, oldest first. */
  readonly acts: readonly AuditEntry[];
}

export interface TenantEntry {
  readonly id: string;
  /** `active` also when its edge keeps no row of it. */
  readonly status: TenantStatus;
  readonly attributes: JsonObject;
  readonly removedAt?: number;
  readonly pausedAt?: number;
  readonly tasks: number;
  /** Tasks that have not ended. */
  readonly live: number;
}

export interface RunnerState {
  readonly pausedAt?: number;
}

/** What a retry is decided by, under the lock of the old task. */
export interface RetryView {
  readonly now: number;
  readonly record: TaskRecord;
  readonly exclusive: boolean;
  readonly tenant: TenantStatus;
  readonly turns: readonly TurnEntry[];
  /** Of the dead turns, by ordinal. */
  readonly messages: ReadonlyMap<number, Message>;
  /** A task of the context that has not ended. */
  readonly activeTaskId?: string;
}

export interface RetryDecision {
  /** The dead turn. */
  readonly ordinal: number;
  readonly task: NewTask;
  readonly exclusive: boolean;
  readonly change: Change;
}

export interface OperatorStore {
  /** Newest first. */
  executions(query: ExecutionQuery): Promise<readonly ExecutionEntry[]>;
  /** Newest first. */
  tasks(query: TaskQuery): Promise<readonly TaskRecord[]>;
  taskFile(taskId: string): Promise<TaskFile | undefined>;
  /** Registered ones and those that only have tasks or a pause, by id. */
  tenants(): Promise<readonly TenantEntry[]>;
  runner(): Promise<RunnerState>;
  /** Newest first. */
  audit(limit: number): Promise<readonly AuditEntry[]>;
  /** Behind the act of that number, oldest first. */
  actsAfter(number: number, limit: number): Promise<readonly AuditEntry[]>;

  /** Creates the task that `decide` answers and notes it on the dead execution, which stays as it is. */
  retry(act: Act, taskId: string, decide: (view: RetryView) => RetryDecision): Promise<TaskRecord>;
  /** Marks the dead execution that `choose` answers as closed. */
  close(
    act: Act,
    taskId: string,
    choose: (turns: readonly TurnEntry[]) => number,
  ): Promise<{ readonly ordinal: number }>;
  /** Undefined from decide: nothing is to be done. */
  cancel(
    act: Act,
    taskId: string,
    decide: (view: TaskView) => Change | undefined,
  ): Promise<{ readonly record: TaskRecord; readonly changed: boolean }>;

  /**
   * From this commit on no process claims a turn of the tenant; what runs goes on to its end. Messages are accepted and
   * wait. False: it is paused already.
   */
  pauseTenant(act: Act, tenant: string): Promise<boolean>;
  /** What waited may be claimed, in its old order. False: it is not paused. A removed tenant is refused, as above. */
  resumeTenant(act: Act, tenant: string): Promise<boolean>;
  /** The same for all tenants: no process claims anything. */
  pauseRunner(act: Act): Promise<boolean>;
  resumeRunner(act: Act): Promise<boolean>;

  /** Removes the tenant (see Tenants.remove) and erases its tasks in batches. Answers how many went. */
  eraseTenant(act: Act, tenant: string): Promise<number>;
  /** Lets a removed tenant's callers in again, once the last of its data is erased. False: it is not removed. */
  restoreTenant(act: Act, tenant: string): Promise<boolean>;
  /**
   * Deletes the credentials and, in batches, the tasks, contexts and requests of one person, in one tenant or in all.
   * A turn of theirs that runs is fenced by it. Answers how many tasks went. Messages that they send afterwards are
   * accepted as ever.
   */
  erasePrincipal(
    act: Act,
    subject: { readonly principal: string; readonly pseudonym: string; readonly tenant?: string },
  ): Promise<number>;
}
