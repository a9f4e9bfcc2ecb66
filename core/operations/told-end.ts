import { mayBeCut } from '../cut-marks.ts';
import { messageIn } from '../decide/send.ts';
import type { Message, Part } from '../message.ts';
import type { Accepted } from '../ports/task-store.ts';
import type { Written } from '../ports/wakeups.ts';
import { isTerminal, type Task } from '../task.ts';

/*
 * The end of a task without a read. Whoever made the task knows what it held then, and is told of what was committed since.
 * When that is one event, and it ends the task, then nothing else has ever happened to it: an artifact, a message, metadata and
 * a state are an event each, and behind an end there is none.
 */

/** A task that has just been made, by a message that holds no more than plain parts. */
export interface Made {
  readonly id: string;
  readonly contextId: string;
  /** Of its last event until then, the beginning of its turn if that was committed with it. */
  readonly sequence: number;
  /** All of its history. */
  readonly message: Message;
}

/** What a call answers of a task. */
export interface Shown {
  readonly task: Task;
  /** A bare Message completed it, which is its status message. */
  readonly reply: boolean;
}

/**
 * Copies of its parts that an agent, which gets the message itself, cannot change. Undefined when it holds more than them, or
 * one with content of its own depth: that is as dear to copy as to read.
 */
export function plainParts({ parts, metadata, extensions, referenceTaskIds }: Message): readonly Part[] | undefined {
  if (metadata || extensions || referenceTaskIds) return undefined;
  if (parts.some((part) => 'data' in part || part.metadata)) return undefined;
  return parts.map((part) => ({ ...part }));
}

/** `parts`: copies of those of the message. */
export function madeOf({ record, begun }: Accepted, { messageId, role }: Message, parts: readonly Part[]): Made {
  const { id, contextId } = record;
  const message = messageIn(record, { messageId, role, parts });
  return { id, contextId, sequence: (begun ?? record).sequence, message };
}

/** The task at its end, with artifacts and history as a read has them. Undefined: what was told does not say it all. */
export function toldEnd(made: Made, written: Written | undefined): Shown | undefined {
  if (written === undefined || written.first !== made.sequence + 1 || written.last !== written.first) return undefined;
  const [event] = written.events;
  if (event === undefined || !('statusUpdate' in event.body)) return undefined;
  const { status, metadata } = event.body.statusUpdate;
  if (!isTerminal(status.state) || (status.message && mayBeCut(status.message))) return undefined;
  const { id, contextId, message } = made;
  const task = { id, contextId, status, artifacts: [], history: [message] };
  return { task: metadata ? { ...task, metadata } : task, reply: written.reply };
}
