import type { Message } from '../message.ts';
import type { Caller } from '../principal.ts';
import type { PushConfig } from './push-configs.ts';

/** What differs between edges once the caller is known. Plain values: the operations hold no vendor word. */
export interface EdgeProfile {
  /** Label for logs and metrics. */
  readonly name: string;
  /**
   * `parallel`: a message with a contextId and no taskId starts another task (A2A). `single-active-task`: it goes into
   * the context's active task, or starts a new one even when it names one that has ended or is not known.
   */
  readonly contextPolicy: 'parallel' | 'single-active-task';
  /** A blocking send answers after this at the latest, with the task as it then is. */
  readonly waitMs: number;
  /** A stream is ended by us after this, the task runs on. */
  readonly streamDeadlineMs: number;
  /** May a send be answered with a bare Message? */
  readonly messageAnswers: boolean;
  /** SubscribeToTask stays open across turns, or ends at INPUT_REQUIRED as a send's stream does. */
  readonly subscribeEnds: 'terminal' | 'input-required';
  /** SubscribeToTask on a finished task: the task and the end, or an error. */
  readonly subscribeFinished: 'task' | 'error';
  /** Does `Last-Event-ID` resume a SubscribeToTask stream? */
  readonly lastEventId: boolean;
}

/** A message, checked and normalised by its edge. */
export interface Incoming {
  readonly caller: Caller;
  readonly message: Message;
  /** Deduplication id; undefined: this message can have none. */
  readonly key?: string;
  /** How long the interaction may take from now. */
  readonly deadlineMs: number;
  /** Wants to hear of the task that the message starts or continues. */
  readonly pushConfig?: Omit<PushConfig, 'taskId'>;
}
