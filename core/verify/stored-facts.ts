import type { AnswerKind } from '../ports/task-store.ts';
import type { TenantStatus } from '../ports/tenants.ts';
import type { Owner } from '../principal.ts';

/*
 * What a store shows to the verifier: its rows as they are, before anything has made sense of them. JSON stays text,
 * states stay strings, and what a row names but does not exist is absent, because a damaged store must be described and
 * not trip whoever looks. Everything belongs to one commit. Rows of a task are read only when they are asked for, so a
 * verification holds one task at a time.
 */

/** In the order of the key; read once. */
export type Rows<T> = Iterable<T> | AsyncIterable<T>;

export interface TaskFacts {
  readonly id: string;
  /** Absent: the owner that the row names does not exist. */
  readonly owner?: Owner;
  /** Absent: the context that the row names does not exist. */
  readonly context?: {
    readonly id: string;
    /** It belongs to the owner of the task. */
    readonly own: boolean;
    /** Tasks in it that claim it for themselves and have not ended. */
    readonly liveExclusive: number;
  };
  readonly exclusive: boolean;
  readonly state: string;
  readonly statusJson: string;
  /** Epoch milliseconds by which lists are ordered. */
  readonly statusAt: number;
  readonly metadataJson?: string;
  readonly reply: boolean;
  readonly sequence: number;
  readonly messages: number;
  readonly deadlineAt?: number;
  readonly parkedOrdinal?: number;
  readonly parkedHash?: string;
  readonly tenantPaused: boolean;

  readonly history: () => Rows<MessageFacts>;
  readonly events: () => Rows<EventFacts>;
  readonly artifacts: () => Rows<ArtifactFacts>;
  readonly requests: () => Rows<RequestFacts>;
  readonly executions: () => Rows<ExecutionFacts>;
  readonly steps: () => Rows<StepFacts>;
  /** By turn, then number. */
  readonly attempts: () => Rows<AttemptFacts>;
  readonly pushConfigs: () => Rows<PushConfigFacts>;
}

export interface MessageFacts {
  readonly ordinal: number;
  readonly json: string;
}

export interface EventFacts {
  readonly sequence: number;
  readonly json: string;
}

export interface ArtifactFacts {
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  readonly metadataJson?: string;
  readonly extensionsJson?: string;
  readonly parts: () => Rows<PartFacts>;
}

export interface PartFacts {
  readonly position: number;
  /** Turn and attempt that wrote it. */
  readonly turn: number;
  readonly attempt: number;
  /** The artifact knows that this attempt wrote to it. */
  readonly writerKnown: boolean;
  readonly json: string;
}

export interface RequestFacts {
  readonly messageId: string;
  /** Of the caller who sent it; absent when that row does not exist. */
  readonly owner?: Owner;
  readonly sequence: number;
  readonly answer: AnswerKind | (string & {});
}

export interface ExecutionFacts {
  readonly ordinal: number;
  readonly agent: string;
  readonly attempt: number;
  readonly outcome: string;
  /** Epoch milliseconds: when it may be claimed; while leased, when the lease ends. */
  readonly claimableAt: number;
  readonly leaseOwner?: string;
  readonly takenBy?: number;
  /** Put out of the claim's reach because its tenant is paused. */
  readonly held: boolean;
  /** It is known when it ended. */
  readonly ended: boolean;
  readonly error?: string;
  /** Id of the task that an operator made of it, which may be gone. */
  readonly retriedAs?: string;
}

export interface AttemptFacts {
  readonly ordinal: number;
  readonly attempt: number;
  /** Epoch milliseconds. */
  readonly claimedAt: number;
  readonly worker: string;
}

export interface PushConfigFacts {
  readonly id: string;
  readonly url: string;
  readonly secretsJson?: string;
}

export interface StepFacts {
  readonly ordinal: number;
  readonly key: string;
  readonly attempt: number;
  readonly finished: boolean;
  readonly resultJson?: string;
}

export interface CredentialFacts {
  readonly tenant: string;
  /** Digest of the principal, as the logs show it. */
  readonly principal: string;
  /** The principal has a task that has not ended. */
  readonly needed: boolean;
  readonly tenantStatus: TenantStatus;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  readonly hash: string;
  readonly sealed?: string;
}

export interface TenantFacts {
  readonly id: string;
  readonly status: string;
  readonly attributesJson: string;
  /** It is known when. */
  readonly removed: boolean;
}

export interface PauseFacts {
  /** Absent: it is that of every runner. */
  readonly tenant?: string;
  /** Epoch milliseconds. */
  readonly since: number;
  readonly tenantStatus: TenantStatus;
}

export interface AuditFacts {
  readonly number: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly actor: string;
  readonly act: string;
  readonly tenant?: string;
  readonly principal?: string;
  readonly taskId?: string;
  readonly ordinal?: number;
  readonly detailJson?: string;
}

export interface RemovedTenantFacts {
  readonly id: string;
  /** By the clock that `now` is read from. */
  readonly removedForMs: number;
  readonly tasks: number;
}

/** What the database itself says about its files, its schema, rows that belong to nothing and counts that it keeps. */
export interface DamageFacts {
  readonly rule: 'integrity' | 'schema' | 'orphan' | 'lane';
  readonly detail: string;
}

export interface StoredFacts {
  /** Epoch milliseconds: leases and deadlines are judged by it. */
  readonly now: number;
  damage(): Rows<DamageFacts>;
  tasks(): Rows<TaskFacts>;
  credentials(): Rows<CredentialFacts>;
  tenants(): Rows<TenantFacts>;
  pauses(): Rows<PauseFacts>;
  /** By number. */
  audit(): Rows<AuditFacts>;
  /** Removed tenants that still have data. */
  removedTenants(): Rows<RemovedTenantFacts>;
}
