import type { EventBody } from '../event.ts';
import { snapshotFrames } from '../frame-size.ts';
import { LIMITS } from '../limits.ts';
import type { Stop } from '../ports/stop.ts';
import type { ReadOptions, Snapshot } from '../ports/task-store.ts';
import type { Owner } from '../principal.ts';
import { isInterrupted, isTerminal, type TaskState } from '../task.ts';
import type { OperationDeps } from './deps.ts';
import type { Opening } from './task-frames.ts';
import { type Made, type Shown, toldEnd } from './told-end.ts';

/*
 * Readers of a task. Each holds a cursor and reads committed events behind it; wake-ups only tell when to look. They
 * subscribe before they read, so nothing falls between a snapshot and the first event after it.
 */

export interface Reader {
  readonly owner: Owner;
  readonly taskId: string;
  readonly signal: Stop;
}

/** Where a stream ends, beside the end of its task. */
export type StreamScope = 'terminal' | 'input-required';

export function stateOf(body: EventBody): TaskState | undefined {
  if ('statusUpdate' in body) return body.statusUpdate.status.state;
  return 'task' in body ? body.task.status.state : undefined;
}

export function endsAt(scope: StreamScope, state: TaskState | undefined): boolean {
  if (state === undefined) return false;
  return isTerminal(state) || (scope === 'input-required' && state === 'TASK_STATE_INPUT_REQUIRED');
}

/** A snapshot as frames; what was committed after it follows. */
export function openingOf({ task, record }: Snapshot, scope: StreamScope): Opening {
  const bodies = snapshotFrames(task);
  const frames = bodies.map((body, index) =>
    index === bodies.length - 1 ? { sequence: record.sequence, body } : { body },
  );
  return endsAt(scope, record.status.state) ? { frames } : { frames, cursor: record.sequence };
}

export interface StopWait {
  /** What is read of the task. */
  readonly options: ReadOptions;
  readonly waitMs: number;
  /** The task's state, when the caller has just learnt it and no notice can have been given since. */
  readonly known?: TaskState | undefined;
  /** The task, when the caller has made it and would read its whole history. */
  readonly made?: Made | undefined;
}

function isStopped(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}

/**
 * The task once it is terminal or interrupted; as it is when the time is up or the signal is aborted; undefined when it is
 * gone. Somebody who was told that it stopped reads it at once, unless all of it is known by that; and whoever only looks in
 * between asks for its state.
 */
export async function readAtStop(
  deps: OperationDeps,
  reader: Reader,
  { options, waitMs, known, made }: StopWait,
): Promise<Shown | undefined> {
  const { owner, taskId, signal } = reader;
  const { store, wakeups } = deps;
  if (waitMs <= 0 || (known !== undefined && isStopped(known))) return shown(await store.read(owner, taskId, options));
  const wakeup = wakeups.subscribe(`stop:${taskId}`);
  // A timer, not the time of day: a clock that is set back must not make anybody wait for an hour.
  let due = false;
  const cancelDue = deps.clock.timer(waitMs, () => {
    due = true;
    wakeup.close();
  });
  try {
    let state = known ?? (await store.state(owner, taskId));
    while (state !== undefined && !isStopped(state) && !due && !signal.aborted) {
      if (await wakeup.wait(LIMITS.pollMs, signal)) {
        const told = made && toldEnd(made, wakeups.told(`task:${taskId}`));
        if (told) return told;
        const snapshot = await store.read(owner, taskId, options);
        if (!snapshot || isStopped(snapshot.record.status.state)) return shown(snapshot);
        state = snapshot.record.status.state;
      } else state = await store.state(owner, taskId);
    }
    return shown(await store.read(owner, taskId, options));
  } finally {
    cancelDue();
    wakeup.close();
  }
}

export function shown(snapshot: Snapshot | undefined): Shown | undefined {
  return snapshot && { task: snapshot.task, reply: snapshot.record.reply };
}
