import type { Json, JsonObject, Message, Part } from '../message.ts';
import type { Artifact, InterruptedState, Task, TerminalState, WorkingState } from '../task.ts';

/*
 * The public plug-in contract. An agent is an object with `run`; everything it yields is plain data, so a module needs
 * no import from this package (its types are exported as `rovo-a2a-connector/agent`).
 */

/** Answers one turn of a task. */
export interface Agent<C = Capabilities> {
  /**
   * What happens to a turn whose process died. `rerun`: it starts over with attempt + 1, finished steps answer their
   * stored result. `review` (default): the task fails and waits for an operator, nothing runs twice.
   */
  readonly recovery?: 'rerun' | 'review';
  /**
   * Media types of messages, for the agent card; a message with a part of another type is refused. `image/*` is a family.
   * Default `text/plain`, `text/markdown`, `application/json`.
   */
  readonly inputModes?: readonly string[];
  /** Media types of the answer, for the agent card. Default `text/markdown`, `text/plain`. */
  readonly outputModes?: readonly string[];
  /** What it can do, for the agent card. */
  readonly skills?: readonly AgentSkill[];
  run(turn: Turn<C>): AsyncIterable<Update>;
}

export interface AgentSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples?: readonly string[];
}

/** One message of a user, and what the agent may use to answer it. */
export interface Turn<C = Capabilities> {
  /** Snapshot with history, taken when the turn began. */
  readonly task: Task;
  /** The message that started this turn. */
  readonly message: Message;
  /** Aborted when the task is canceled, its deadline passes, the lease is lost or the process stops. */
  readonly signal: AbortSignal;
  /** What the edge grants. */
  readonly capabilities: C;
  /**
   * The caller's other tasks of this context, newest first, with history and final status, without artifacts. Those
   * that the message refers to (`referenceTaskIds`) come first, in its order, whatever their context; one that the
   * caller does not have is left out. `limit` is 10 by default, at most 50. Behind 2 MB of stored messages no further
   * task is added, neither to those referred to nor to the others.
   */
  earlier(limit?: number): Promise<readonly Task[]>;
  /** Messages that arrived since the turn began, each handed over once. A message not taken starts the next turn. */
  inbox(): readonly Message[];
  /**
   * Runs a side effect whose result is stored under `key`. A rerun gets the stored result instead. After a crash
   * between effect and commit it may be called again with the same `idempotencyKey`; at most one result is stored.
   */
  step<T extends Json>(key: string, effect: (idempotencyKey: string) => Promise<T>): Promise<T>;
}

/**
 * What an agent yields. Exactly one terminal or interrupted state (or one `reply`) ends a turn; what comes after it is
 * ignored. An agent that returns without one fails, and so does one that throws.
 */
export type Update =
  | {
      readonly state: WorkingState | InterruptedState | TerminalState;
      /** Shown to people, markdown. */
      readonly message?: string | readonly Part[];
      readonly metadata?: JsonObject;
    }
  | {
      /** `artifactId` must be the same in every attempt of a turn. */
      readonly artifact: Artifact;
      readonly append?: boolean;
      readonly lastChunk?: boolean;
    }
  | {
      /** The whole answer, as a Message. The task is stored all the same, completed. Must be the only update. */
      readonly reply: string | readonly Part[];
    };

/** What the Rovo edge grants. On other edges both are absent. */
export interface Capabilities {
  readonly invocation?: Invocation;
  /** Acts as the invoking user; asks for the user's token at each call. */
  readonly jira?: Jira;
}

export interface Invocation {
  /** ISSUE_ASSIGNMENT, ISSUE_COMMENT_MENTION, AUTOMATION, CHAT, or what Jira sends next year. */
  readonly type: string;
  readonly issue?: {
    readonly id: string;
    readonly key?: string;
    readonly summary?: string;
    readonly description?: string;
  };
  readonly comment?: { readonly id: string; readonly body: string };
  readonly prompt?: string;
}

/**
 * Reads Jira as the invoking user. Methods reject with an Error that has `name: 'JiraError'` and `reason`
 * (JiraErrorReason), or with a DomainError `USER_TOKEN_REQUIRED`: let that one pass, the task is then parked until a
 * fresh token comes.
 */
export interface Jira {
  /** `id` is an issue id or key. Default fields: all that `Issue` shows. */
  issue(id: string, fields?: readonly string[]): Promise<Issue>;
  comments(id: string, options?: { readonly limit?: number }): Promise<readonly Comment[]>;
  search(
    jql: string,
    options?: { readonly limit?: number; readonly fields?: readonly string[] },
  ): Promise<readonly Issue[]>;
}

/** A work item, texts already markdown. */
export interface Issue {
  readonly id: string;
  readonly key: string;
  readonly summary: string;
  /** Markdown; absent when empty. */
  readonly description?: string;
  readonly status?: { readonly name: string; readonly category?: 'new' | 'indeterminate' | 'done' };
  readonly type?: string;
  readonly priority?: string;
  readonly assignee?: string;
  readonly reporter?: string;
  /** ISO 8601 date. */
  readonly due?: string;
  /** ISO 8601 with offset. */
  readonly created?: string;
  readonly updated?: string;
  readonly labels: readonly string[];
  readonly parent?: LinkedIssue;
  readonly subtasks: readonly LinkedIssue[];
  readonly links: readonly (LinkedIssue & { readonly relation: string })[];
}

export interface LinkedIssue {
  readonly id: string;
  readonly key: string;
  readonly summary: string;
  readonly status?: { readonly name: string; readonly category?: 'new' | 'indeterminate' | 'done' };
}

export interface Comment {
  readonly id: string;
  readonly author: string;
  /** Markdown. */
  readonly body: string;
  /** ISO 8601 with offset. */
  readonly created: string;
  /** Whom it calls, in the order of the text; absent when it calls nobody. */
  readonly mentions?: readonly Mention[];
}

/** Somebody whom a text calls. Markdown keeps the plain name only, so that nobody is notified by what is repeated. */
export interface Mention {
  /** Atlassian account id. */
  readonly id: string;
  /** As it stands in the text, without the `@`. */
  readonly name: string;
  /** Jira says that it is an app's account. It does not always say so. */
  readonly app: boolean;
}

/** Why Jira refused. `not-found` means missing or not permitted: Jira does not say which. */
export type JiraErrorReason = 'not-found' | 'forbidden' | 'rate-limited' | 'invalid' | 'unavailable';
