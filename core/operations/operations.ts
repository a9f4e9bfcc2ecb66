import type { EventBody } from '../event.ts';
import type { Message } from '../message.ts';
import type { EdgeProfile, Incoming } from '../ports/edge.ts';
import type { Stop } from '../ports/stop.ts';
import type { ListFilter } from '../ports/task-store.ts';
import type { Caller } from '../principal.ts';
import type { Task } from '../task.ts';

/** One event of a stream. `sequence` is absent on parts of a snapshot that is not complete yet. */
export interface Frame {
  readonly sequence?: number;
  readonly body: EventBody;
}

/** The frames of a stream, for one reader. */
export interface FrameStream extends AsyncIterable<Frame> {
  [Symbol.asyncIterator](): FrameIterator;
}

export interface FrameIterator extends AsyncIterator<Frame> {
  /**
   * The next frame, if it need not be waited for; `over`: none follows. Undefined: ask `next`. So that what was committed
   * together goes out together. Absent: every frame has to be waited for.
   */
  ready?(): Frame | 'over' | undefined;
}

/** A2A 1.0's SendMessageResponse. */
export type Answer = { readonly task: Task } | { readonly message: Message };

export interface SendOptions {
  readonly returnImmediately: boolean;
  /** Newest messages of the history in the answer: absent = all, 0 = none. */
  readonly historyLength?: number;
}

export interface ListQuery {
  readonly filter: ListFilter;
  /** 1..100 */
  readonly pageSize: number;
  readonly pageToken?: string;
  readonly historyLength?: number;
  readonly includeArtifacts: boolean;
}

export interface ListResult {
  readonly tasks: readonly Task[];
  readonly totalSize: number;
  readonly pageSize: number;
  /** `''` on the last page. */
  readonly nextPageToken: string;
}

/**
 * What every binding calls. All reject with DomainError; nothing is committed when they do, unless the error says
 * that an answer could not be given (STORE_UNAVAILABLE): then a repeat with the same message id is safe.
 * A signal stops the waiting, never the task.
 */
export interface Operations {
  sendMessage(edge: EdgeProfile, incoming: Incoming, options: SendOptions, signal: Stop): Promise<Answer>;
  /** Resolves when the message is accepted; refusals reject before there is a stream. */
  sendStreamingMessage(edge: EdgeProfile, incoming: Incoming, signal: Stop): Promise<FrameStream>;
  getTask(caller: Caller, taskId: string, historyLength?: number): Promise<Task>;
  listTasks(caller: Caller, query: ListQuery): Promise<ListResult>;
  /** Idempotent on a canceled task; TASK_NOT_CANCELABLE on other finished ones. */
  cancelTask(caller: Caller, taskId: string): Promise<Task>;
  /** `after`: the sequence of the last frame that the client has (Last-Event-ID); then no Task frame is sent. */
  subscribeToTask(
    edge: EdgeProfile,
    caller: Caller,
    subscription: { readonly taskId: string; readonly after?: number },
    signal: Stop,
  ): Promise<FrameStream>;
  /** Every authenticated call of a user whose token came along: keeps it and wakes tasks that wait for one. */
  renewUserToken(caller: Caller): Promise<void>;
}
