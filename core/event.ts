import type { JsonObject, Message } from './message.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';

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

/** One arm of A2A's StreamResponse (4.2.1), in ProtoJSON spelling. */
export type EventBody =
  | { readonly task: Task }
  | { readonly statusUpdate: StatusUpdate }
  | { readonly artifactUpdate: ArtifactUpdate }
  | { readonly message: Message };

/** A committed event: append-only, numbered 1, 2, 3 … within its task. `at` is epoch milliseconds of the store's clock. */
export interface StoredEvent {
  readonly sequence: number;
  readonly body: EventBody;
  readonly at: number;
}
