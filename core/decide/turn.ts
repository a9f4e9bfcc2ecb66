import type { JsonObject } from '../message.ts';
import type { Change, ExecutionWrite, TaskView } from '../ports/task-store.ts';
import type { InterruptedState, TerminalState } from '../task.ts';
import { dropLost, type Writer } from './artifact.ts';
import { agentMessage, closeOthers, nextStatus, roomForEvents, type Saying, statusEvent } from './status.ts';
import { nextMetadata } from './task-metadata.ts';

/*
 * How a turn goes on and ends. Exactly one commit ends it: it closes the turn's execution together with those whose
 * messages its inbox handed over, sets the state and writes the event. A COMPLETED turn (or one that asks) that leaves a
 * message untaken is stored as WORKING with the same text, because the next turn answers that message; FAILED, REJECTED
 * and CANCELED are final and close what is open.
 */

function isOpen(view: TaskView, ordinal: number): boolean {
  return view.open.some((execution) => execution.ordinal === ordinal);
}

const NONE: readonly ExecutionWrite[] = [];

/**
 * Messages that the inbox handed over since the last commit are answered by this turn. One that a lost attempt of this
 * turn had taken before is closed already.
 */
export function closeTaken(view: TaskView, writer: Writer, taken: readonly number[]): readonly ExecutionWrite[] {
  if (taken.length === 0) return NONE;
  return taken
    .filter((ordinal) => isOpen(view, ordinal))
    .map((ordinal) => ({ close: ordinal, outcome: 'done', takenBy: writer.ordinal }) as const);
}

/** The agent is at work; `saying` is shown to people. Throws when the task is full. */
export function decideProgress(view: TaskView, saying: Saying | undefined, said?: JsonObject): Change {
  roomForEvents(view);
  const metadata = nextMetadata(view.record, said);
  const status = nextStatus(view.record, view.now, 'TASK_STATE_WORKING', saying);
  return {
    status,
    ...(metadata ? { metadata } : {}),
    events: [statusEvent(view.record, status, metadata)],
  };
}

export interface EndCommand {
  readonly state: InterruptedState | TerminalState;
  readonly saying?: Saying;
  /** Words for a state that is not understood without, in place of those that the agent did not say. */
  readonly unsaid?: Saying;
  readonly metadata?: JsonObject;
  /** The whole answer is a bare Message. */
  readonly reply: boolean;
  readonly taken: readonly number[];
  /** Messages that the inbox still holds, those of a lost or parked attempt among them. */
  readonly left: readonly number[];
  readonly parkedMaxMs: number;
}

export function decideEnd(view: TaskView, writer: Writer, command: EndCommand): Change {
  const { record, now } = view;
  const untaken = view.open.filter(
    (execution) => execution.ordinal !== writer.ordinal && !command.taken.includes(execution.ordinal),
  );
  // An earlier attempt took it and this one did not: nobody has answered it.
  const reopened = command.left.filter((ordinal) => !isOpen(view, ordinal));
  const final =
    command.state === 'TASK_STATE_FAILED' ||
    command.state === 'TASK_STATE_REJECTED' ||
    command.state === 'TASK_STATE_CANCELED';
  const goesOn = untaken.length + reopened.length > 0 && !final;
  const state = goesOn ? 'TASK_STATE_WORKING' : command.state;
  const status = nextStatus(record, now, state, command.saying ?? (goesOn ? undefined : command.unsaid));
  const metadata = nextMetadata(record, command.metadata);
  const lost = dropLost(view, writer);
  const change: { -readonly [Key in keyof Change]: Change[Key] } = {
    status,
    events: [...(lost.events ?? []), statusEvent(record, status, metadata)],
    executions: [
      { close: writer.ordinal, outcome: 'done' },
      ...closeTaken(view, writer, command.taken),
      ...(final ? closeOthers(untaken) : reopened.map((ordinal) => ({ requeue: ordinal }))),
    ],
  };
  if (metadata) change.metadata = metadata;
  if (lost.artifacts) change.artifacts = lost.artifacts;
  if (goesOn) {
    // The next turn's status takes the place of this answer, so the conversation keeps it.
    if (command.saying) change.messages = [agentMessage(record, command.saying)];
    return change;
  }
  if (command.reply) change.reply = true;
  if (state === 'TASK_STATE_INPUT_REQUIRED') change.deadlineAt = now + command.parkedMaxMs;
  else if (state !== 'TASK_STATE_AUTH_REQUIRED') change.deadlineAt = null;
  return change;
}

export interface FailCommand {
  /** Outward, fixed words. */
  readonly saying: Saying;
  /** For the operator, kept on the dead execution. No token, no issue text. */
  readonly error: string;
  readonly taken: readonly number[];
}

/** The turn cannot go on: FAILED, its execution dead, nothing runs again by itself. */
export function decideFail(view: TaskView, writer: Writer, command: FailCommand): Change {
  const status = nextStatus(view.record, view.now, 'TASK_STATE_FAILED', command.saying);
  const lost = dropLost(view, writer);
  return {
    status,
    deadlineAt: null,
    ...(lost.artifacts ? { artifacts: lost.artifacts } : {}),
    events: [...(lost.events ?? []), statusEvent(view.record, status)],
    executions: [
      { close: writer.ordinal, outcome: 'dead', error: command.error },
      ...closeTaken(view, writer, command.taken),
      ...closeOthers(
        view.open.filter((execution) => !command.taken.includes(execution.ordinal)),
        writer.ordinal,
      ),
    ],
  };
}

export interface ParkCommand {
  readonly saying: Saying;
  /** Digest of the token that did not do, `''` when there was none. */
  readonly tokenHash: string;
  readonly taken: readonly number[];
}

/**
 * The user's token is missing or refused: AUTH_REQUIRED until a call of the same user brings another one. When that has
 * happened while the agent found out, the turn runs again at once. Messages that wait come with the rerun's inbox.
 */
export function decidePark(view: TaskView, writer: Writer, command: ParkCommand): Change {
  const { credentialHash } = view;
  if (command.tokenHash !== '' && credentialHash !== undefined && credentialHash !== command.tokenHash) {
    return { executions: [{ requeue: writer.ordinal }, ...closeTaken(view, writer, command.taken)] };
  }
  const status = nextStatus(view.record, view.now, 'TASK_STATE_AUTH_REQUIRED', command.saying);
  const waiting = view.open.map((execution) => execution.ordinal).filter((ordinal) => ordinal !== writer.ordinal);
  return {
    status,
    parked: { ordinal: writer.ordinal, tokenHash: command.tokenHash },
    events: [statusEvent(view.record, status)],
    executions: [{ close: writer.ordinal, outcome: 'closed' }, ...closeTaken(view, writer, waiting)],
  };
}

/** The process stops in order: whoever claims it next starts the turn over. */
export function decideGiveBack(view: TaskView, writer: Writer, taken: readonly number[]): Change {
  return { executions: [{ requeue: writer.ordinal }, ...closeTaken(view, writer, taken)] };
}
