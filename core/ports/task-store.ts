import type { EventBody, StoredEvent } from '../event.ts';
import type { Json, JsonObject, Message, Part } from '../message.ts';
import type { Owner } from '../principal.ts';
import type { Artifact, Task, TaskState, TaskStatus } from '../task.ts';
import type { Decide } from './decide.ts';
import type { PushConfig } from './push-configs.ts';
import type { Begun, FreeSlots } from './slots.ts';
import type { TenantStatus } from './tenants.ts';
import type { Credential, CredentialSubject } from './vault.ts';

/*
 * The durable store. Rules are not in it: `accept`, `update`, `claim` and `renewCredential` call a pure decide function
 * inside their transaction and write what it returns, or nothing when it throws (the rejection is the error that decide
 * threw, or its equal when that was in another thread). It may be called again, when the transaction is rolled back and
 * another one is tried.
 * Every promise resolves after the commit. `now` is the store's own clock: callers pass durations.
 * A store that cannot answer rejects with DomainError STORE_UNAVAILABLE.
 *
 * After a commit the store notifies Wakeups: `task:<id>` when events were written, `stop:<id>` when a task became
 * terminal or interrupted, `work` when an execution may be claimed now (opened without a lease, requeued, or behind one that
 * was closed), `turn:<id>` when a message was added to a task, whose turn did not begin with it, or a task became terminal.
 *
 * Glossary: a *turn* is one message being answered; its id within the task is the message's ordinal (1, 2, 3 …).
 * An *execution* is the outbox row of a turn. Its outcomes: `open` waits or runs; `done` was answered; `dead` failed
 * for good and waits for an operator; `closed` was never run (canceled, or its message was taken by another turn).
 */

export type ExecutionOutcome = 'open' | 'done' | 'dead' | 'closed';

/** The snapshot row of a task. */
export interface TaskRecord {
  readonly id: string;
  readonly owner: Owner;
  readonly delegate?: string;
  readonly contextId: string;
  readonly status: TaskStatus;
  readonly metadata?: JsonObject;
  /** It was completed by a bare Message, which is its status message. */
  readonly reply: boolean;
  /** Of the last event. */
  readonly sequence: number;
  /** How many messages its history holds; the ordinal of the last one. */
  readonly messages: number;
  /** Epoch milliseconds. Past it the task fails: in INPUT_REQUIRED because nobody answered, else because it took too long. */
  readonly deadlineAt?: number;
  /** AUTH_REQUIRED for a user token: which turn is parked, and the digest of the token that did not do (`''`: none). */
  readonly parked?: { readonly ordinal: number; readonly tokenHash: string };
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface ExecutionRecord {
  /** Ordinal of the message that it answers. */
  readonly ordinal: number;
  /** How often it was claimed. */
  readonly attempt: number;
  /** Somebody holds a lease, live or expired. */
  readonly leased: boolean;
}

/** What an artifact looks like to a writing turn (see ArtifactWrite). */
export interface ArtifactView {
  /** Parts that an earlier, lost attempt of this turn wrote are still in it. */
  readonly lost: boolean;
  /** Only when `lost`: the parts of other turns, joined as a reader gets them. Empty otherwise. */
  readonly kept: readonly Part[];
  /** Only with kept parts, when it has any: they stay on the artifact, so whoever shows it anew must show them. */
  readonly labels?: ArtifactLabels;
}

export type ArtifactLabels = Omit<Artifact, 'artifactId' | 'parts'>;

/** What a decide function sees of a task, under the task's lock. */
export interface TaskView {
  readonly now: number;
  readonly record: TaskRecord;
  /** Open executions, oldest first. */
  readonly open: readonly ExecutionRecord[];
  /** For each of the request's `artifactIds` that exists. */
  readonly artifacts: ReadonlyMap<string, ArtifactView>;
  /** Only when asked (`lostArtifacts`): artifacts that hold parts of lost attempts of this turn. */
  readonly lost: ReadonlyMap<string, ArtifactView>;
  /** Digest of the credential that the owner's principal has now. */
  readonly credentialHash?: string;
  /** Only in an AcceptView: UTF-8 bytes of stored JSON. */
  readonly volume?: {
    /** Messages of open executions. */
    readonly inbox: number;
    /** All messages. */
    readonly history: number;
  };
}

/**
 * `append` adds parts behind what is there; `replace` drops every part first; `replace-lost` drops those of lost
 * attempts of this turn first; `drop-lost` only drops those, and the artifact when nothing is left.
 * A part with `joined` continues the text of the part before it: readers get both as one part.
 */
export interface ArtifactWrite {
  readonly mode: 'append' | 'replace' | 'replace-lost' | 'drop-lost';
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly metadata?: JsonObject;
  readonly extensions?: readonly string[];
  readonly parts: readonly { readonly part: Part; readonly joined: boolean }[];
  /** The turn and attempt that write. */
  readonly ordinal: number;
  readonly attempt: number;
}

export type ExecutionWrite =
  /** A new outbox row, claimable at once. */
  | { readonly open: number; readonly trace?: string }
  /** Ends it and frees its lease. `takenBy`: the turn whose inbox handed the message over. */
  | {
      readonly close: number;
      readonly outcome: Exclude<ExecutionOutcome, 'open'>;
      readonly takenBy?: number;
      readonly error?: string;
    }
  /** Frees its lease and makes it claimable again: given back or resumed, not lost. Opens one that was ended. */
  | { readonly requeue: number; readonly delayMs?: number };

/** What one commit writes to one task. Absent = unchanged. */
export interface Change {
  readonly status?: TaskStatus;
  readonly metadata?: JsonObject;
  readonly reply?: true;
  readonly deadlineAt?: number | null;
  /** Parking deletes the principal's credential of that hash in the same commit, whichever there is when it is `''`. */
  readonly parked?: { readonly ordinal: number; readonly tokenHash: string } | null;
  /** Appended to the history, in order. */
  readonly messages?: readonly Message[];
  readonly artifacts?: readonly ArtifactWrite[];
  /** Get the next sequences, in order. */
  readonly events?: readonly EventBody[];
  readonly executions?: readonly ExecutionWrite[];
}

export interface NewTask {
  readonly id: string;
  readonly delegate?: string;
  readonly contextId: string;
}

/** How a send is answered: by the task or by the bare Message that completed it. */
export type AnswerKind = 'task' | 'message';

export interface AcceptRequest {
  readonly owner: Owner;
  /** Deduplication key: contextId as sent or `''`. Absent: this message is never a repeat. */
  readonly key?: { readonly contextId: string; readonly messageId: string; readonly fingerprint: string };
  /** The task that the message names. */
  readonly taskId?: string;
  /** The context that the message names; its active task is looked up. */
  readonly contextId?: string;
  /** Written in this commit unless it is a repeat; subject is the owner's tenant and principal. See renewCredential for when. */
  readonly credential?: Credential;
  /** Kept in this commit for the task that answers, also for one that answers a repeat. */
  readonly pushConfig?: Omit<PushConfig, 'taskId'>;
  /** Who would run the turn of a new task at once, see AcceptView.free. */
  readonly lease?: LeaseRequest;
}

export interface AcceptView {
  readonly now: number;
  /** `active` when the tenant has no row. */
  readonly tenant: TenantStatus;
  /** The turn of a new task may begin in this commit: the request says who runs it, and nothing is paused. */
  readonly free: boolean;
  /** Turns that wait for a runner now: of the owner's tenant and of everybody, for the owner's agent. 0 for a repeat. */
  readonly queued: { readonly tenant: number; readonly everybody: number };
  /** The request row under `key`, with the task as it is now (absent when it was purged). */
  readonly repeat?: {
    readonly fingerprint: string;
    readonly taskId: string;
    readonly sequence: number;
    readonly answer: AnswerKind;
    readonly record?: TaskRecord;
  };
  /** The task named by `taskId`, when the owner has it. */
  readonly task?: TaskView;
  /** The not terminal task of `contextId`, newest first when there are several. */
  readonly active?: TaskView;
}

export type AcceptDecision =
  | { readonly kind: 'repeat' }
  | {
      readonly kind: 'create';
      readonly task: NewTask;
      readonly change: Change;
      /** Only when the view says `free`: leases the one execution that `change` opens, and changes the task behind that. */
      readonly begin?: { readonly status: TaskStatus; readonly events: readonly EventBody[] };
      readonly answer: AnswerKind;
      readonly exclusive: boolean;
    }
  | { readonly kind: 'continue'; readonly taskId: string; readonly change: Change; readonly answer: AnswerKind };

export interface Accepted {
  readonly kind: AcceptDecision['kind'];
  /** As the message left it. */
  readonly record: TaskRecord;
  /** The turn that began in the same commit. */
  readonly begun?: Begun;
  /** Of the last event that the (first) call wrote. */
  readonly sequence: number;
  readonly answer: AnswerKind;
}

/** An agent's right to write: it holds the lease of this attempt of this turn. */
export interface Fence {
  readonly taskId: string;
  readonly ordinal: number;
  readonly worker: string;
  readonly attempt: number;
}

/** Names an attempt of a turn. */
export function fenceKey(fence: Omit<Fence, 'worker'>): string {
  return `${fence.taskId} ${fence.ordinal} ${fence.attempt}`;
}

export interface UpdateRequest {
  readonly taskId: string;
  /** Answers TASK_NOT_FOUND when the task is not this owner's. */
  readonly owner?: Owner;
  /** Answers LEASE_LOST when the lease is gone, the task is terminal or the tenant is removed. */
  readonly fence?: Fence;
  /** `pending` of the answer begins behind this ordinal: what the writer knows is not read again. Default 0. */
  readonly pendingAfter?: number;
  readonly artifactIds?: readonly string[];
  readonly lostArtifacts?: boolean;
}

export interface PendingMessage {
  readonly ordinal: number;
  readonly message: Message;
}

export interface Updated {
  readonly changed: boolean;
  /** With a fence: messages of other open executions of the task behind `pendingAfter`, oldest first. */
  readonly pending: readonly PendingMessage[];
}

export interface LeaseRequest {
  readonly worker: string;
  readonly leaseMs: number;
}

export interface ClaimRequest extends LeaseRequest {
  readonly agent: string;
  readonly limit: number;
  /** Each turn takes one, and none is claimed without; given back when the claim fails. */
  readonly slots?: FreeSlots;
  /** At most `max` turns of one tenant at this worker; `running` has those that it runs already, by tenant. */
  readonly perTenant?: { readonly max: number; readonly running: ReadonlyMap<string, number> };
  /** Attempts (fenceKey) that this worker is at: leases of theirs that have run out are extended and not taken for lost. */
  readonly running?: ReadonlySet<string>;
}

/** A turn that now belongs to the caller until its lease ends. */
export interface Claimed {
  readonly fence: Fence;
  readonly record: TaskRecord;
  readonly message: Message;
  /** An earlier attempt held a lease that ran out: its process died or hung. */
  readonly lost: boolean;
  /** Messages that the lost attempt took from its inbox, then those that wait, oldest first. */
  readonly pending: readonly PendingMessage[];
  readonly trace?: string;
}

export interface Claims {
  readonly claimed: readonly Claimed[];
  /** It ended at the limit, for want of a slot or because of what messages take, and others wait. */
  readonly more: boolean;
}

export interface HeldLease {
  readonly fence: Fence;
  /** Ordinal of the task's newest open execution: above what the turn knows, a message waits. */
  readonly newest: number;
}

export interface Snapshot {
  readonly record: TaskRecord;
  /** Artifacts and history only when asked for. */
  readonly task: Task;
}

export interface ReadOptions {
  /** Newest messages of the history: absent = all, 0 = none (no history key). */
  readonly historyLength?: number;
  readonly artifacts: boolean;
}

export interface ListFilter {
  readonly contextId?: string;
  readonly state?: TaskState;
  /** Epoch milliseconds, inclusive. */
  readonly statusSince?: number;
}

export interface ListPosition {
  /** Epoch milliseconds of the last status. */
  readonly statusAt: number;
  readonly id: string;
}

export interface ListRequest extends ReadOptions {
  readonly filter: ListFilter;
  readonly limit: number;
  /** The page ends before the task that would bring its stored JSON above this, in UTF-8 bytes; it holds one at least. */
  readonly maxBytes?: number;
  /** Exclusive: the page begins behind it. */
  readonly after?: ListPosition;
}

export interface ListPage {
  readonly snapshots: readonly Snapshot[];
  /** Tasks that pass the filter, over all pages. */
  readonly total: number;
  /** Tasks follow behind the last one. */
  readonly more: boolean;
}

export interface TaskStore {
  accept(request: AcceptRequest, decide: Decide<[view: AcceptView], AcceptDecision>): Promise<Accepted>;
  /** Undefined from decide writes nothing. */
  update(request: UpdateRequest, decide: Decide<[view: TaskView], Change | undefined>): Promise<Updated>;

  /** One read: the record and what hangs on it belong to the same commit. */
  read(owner: Owner, taskId: string, options: ReadOptions): Promise<Snapshot | undefined>;
  record(owner: Owner, taskId: string): Promise<TaskRecord | undefined>;
  /** For those who only wait: the cheapest look at a task. Undefined when the owner has none of that id. */
  state(owner: Owner, taskId: string): Promise<TaskState | undefined>;
  events(owner: Owner, taskId: string, after: number, limit: number): Promise<readonly StoredEvent[]>;
  /** Newest status first, then id descending. */
  list(owner: Owner, request: ListRequest): Promise<ListPage>;
  /** Other tasks of the context, newest first, whole history, no artifacts; fewer when they are large (LIMITS.listBytes). */
  earlier(owner: Owner, contextId: string, exceptTaskId: string, limit: number): Promise<readonly Task[]>;

  /**
   * Leases open executions of active tenants: available, not leased or with a lease that ran out, whose task has no
   * live lease and no older open execution. Tenants take turns: next is the one that was served longest ago, where
   * each running turn of this agent (at all workers, those with a lease that ran out not among them) counts as 32
   * claims; of one tenant's turns the oldest. Ends before the turn that would bring the messages that it reads above
   * LIMITS.claimBytes, with one turn at least; what it leaves then is notified (`work`). `begin` may change each task in the same commit (it sets
   * WORKING); attempt is then already counted.
   */
  claim(
    request: ClaimRequest,
    begin: Decide<[view: TaskView, execution: ExecutionRecord], Change | undefined>,
  ): Promise<Claims>;
  /** Extends the leases that the worker still holds and answers them; `only` those of these keys (fenceKey), if given. */
  heartbeat(
    worker: string,
    leaseMs: number,
    options?: { readonly only: ReadonlySet<string> },
  ): Promise<readonly HeldLease[]>;
  /** Commits that the step was started, under the fence, or answers what it once resulted in. */
  beginStep(fence: Fence, key: string): Promise<{ readonly result: { readonly value: Json } | undefined }>;
  /** Stores the result under the fence; the first one stored wins and is answered. */
  endStep(fence: Fence, key: string, value: Json): Promise<Json>;
  /** Tasks whose deadline has passed. */
  due(limit: number): Promise<readonly string[]>;

  /** A credential that has not expired. */
  credential(subject: CredentialSubject): Promise<Credential | undefined>;
  /**
   * In one commit: keeps the credential when its hash differs from the stored one, it does not expire earlier, no task
   * is parked because of this very token and the principal has a task that is not terminal; then lets `resume` change each task of the principal that is parked for
   * another token. A credential is deleted in the transaction that ends the principal's last live task.
   */
  renewCredential(
    subject: CredentialSubject,
    credential: Credential,
    resume: Decide<[view: TaskView], Change | undefined>,
  ): Promise<{ readonly stored: boolean; readonly resumed: readonly string[] }>;
  /** Deletes expired credentials and answers the hashes of the others. */
  sweepCredentials(): Promise<ReadonlySet<string>>;

  /** Deletes up to `limit` tasks that ended at least `olderThanMs` ago, with all that hangs on them. Answers how many went. */
  purge(olderThanMs: number, limit: number): Promise<number>;

  /** Executions that wait or run, and how long the oldest available one has waited. */
  backlog(): Promise<{ readonly waiting: number; readonly leased: number; readonly oldestMs: number }>;
  /** Rejects when the store cannot commit. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
