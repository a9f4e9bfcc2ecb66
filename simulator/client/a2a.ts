import type { Json, JsonObject } from '../json.ts';

/** The A2A 1.0 answers as Jira's client holds them after parsing. Spellings are those of a2a.proto in ProtoJSON. */
export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

export interface Part {
  readonly text?: string;
  readonly raw?: string;
  readonly url?: string;
  readonly data?: Json;
  readonly metadata?: JsonObject;
  readonly filename?: string;
  readonly mediaType?: string;
}
export interface Message {
  readonly messageId: string;
  readonly contextId?: string;
  readonly taskId?: string;
  readonly role: string;
  readonly parts: readonly Part[];
  readonly metadata?: JsonObject;
}
export interface Artifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts: readonly Part[];
  readonly metadata?: JsonObject;
}
export interface TaskStatus {
  readonly state: TaskState;
  readonly message?: Message;
  readonly timestamp?: string;
}
export interface Task {
  readonly id: string;
  readonly contextId?: string;
  readonly status: TaskStatus;
  readonly artifacts?: readonly Artifact[];
  readonly history?: readonly Message[];
  readonly metadata?: JsonObject;
}
export interface StatusUpdate {
  readonly taskId: string;
  readonly contextId: string;
  readonly status: TaskStatus;
  readonly metadata?: JsonObject;
}
export interface ArtifactUpdate {
  readonly taskId: string;
  readonly contextId: string;
  readonly artifact: Artifact;
  readonly append?: boolean;
  readonly lastChunk?: boolean;
  readonly metadata?: JsonObject;
}
/** One event of a stream: exactly one arm. */
export interface StreamResponse {
  readonly task?: Task;
  readonly message?: Message;
  readonly statusUpdate?: StatusUpdate;
  readonly artifactUpdate?: ArtifactUpdate;
}
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

const TERMINAL: ReadonlySet<string> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);
/** The states in which Jira goes on asking; in INPUT_REQUIRED it waits for the person. */
const POLLED: ReadonlySet<string> = new Set(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_AUTH_REQUIRED']);

export const isTerminal = (state: TaskState): boolean => TERMINAL.has(state);
export const isPolled = (state: TaskState): boolean => POLLED.has(state);
/** Jira's streams end here and nowhere else before their limit. */
export const endsStream = (state: TaskState): boolean => isTerminal(state) || state === 'TASK_STATE_INPUT_REQUIRED';

const textOf = (parts: readonly Part[] | undefined): string => (parts ?? []).map((part) => part.text ?? '').join('');

/** What a person reads below the agent's name. */
export const statusText = (task: Task | undefined): string => textOf(task?.status.message?.parts);
export const messageText = (message: Message | undefined): string => textOf(message?.parts);
/** Text of one artifact, or of all in their order. */
export const artifactText = (task: Task | undefined, artifactId?: string): string =>
  (task?.artifacts ?? [])
    .filter((artifact) => artifactId === undefined || artifact.artifactId === artifactId)
    .map((artifact) => textOf(artifact.parts))
    .join('');
