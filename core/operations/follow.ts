import type { StoredEvent } from '../event.ts';
import { snapshotFrames } from '../frame-size.ts';
import { LIMITS } from '../limits.ts';
import type { Snapshot } from '../ports/task-store.ts';
import type { Owner } from '../principal.ts';
import { isInterrupted, isTerminal, type TaskState } from '../task.ts';
import type { OperationDeps } from './deps.ts';
import type { Frame } from './operations.ts';

/*
 * Readers of a task. Each holds a cursor and reads committed events behind it; wake-ups only tell when to look. They
 * subscribe before they read, so nothing falls between a snapshot and the first event after it.
 */

export interface Reader {
  readonly owner: Owner;
  readonly taskId: string;
  readonly signal: AbortSignal;
}

export function stateOf(event: StoredEvent): TaskState | undefined {
  const { body } = event;
  if ('statusUpdate' in body) return body.statusUpdate.status.state;
  return 'task' in body ? body.task.status.state : undefined;
}

/** Every event after `cursor`, until one that `ends` accepts, the signal, or the task's erasure. */
export async function* eventsAfter(
  deps: OperationDeps,
  reader: Reader,
  cursor: number,
): AsyncGenerator<StoredEvent, void, undefined> {
  const wakeup = deps.wakeups.subscribe(`task:${reader.taskId}`);
  try {
    let after = cursor;
    while (!reader.signal.aborted) {
      const page = await deps.store.events(reader.owner, reader.taskId, after, LIMITS.eventPage);
      for (const event of page) {
        if (reader.signal.aborted) return;
        after = event.sequence;
        yield event;
      }
      if (page.length === LIMITS.eventPage) continue;
      if (page.length === 0 && !(await deps.store.state(reader.owner, reader.taskId))) return;
      await wakeup.wait(LIMITS.pollMs, reader.signal);
    }
  } finally {
    wakeup.close();
  }
}

export function endsAt(scope: 'terminal' | 'input-required'): (state: TaskState | undefined) => boolean {
  return (state) =>
    state !== undefined && (isTerminal(state) || (scope === 'input-required' && state === 'TASK_STATE_INPUT_REQUIRED'));
}

/** Frames of what was committed after `cursor`. */
export async function* framesAfter(
  deps: OperationDeps,
  reader: Reader,
  from: { readonly cursor: number; readonly ends: 'terminal' | 'input-required' },
): AsyncGenerator<Frame, void, undefined> {
  const ends = endsAt(from.ends);
  for await (const event of eventsAfter(deps, reader, from.cursor)) {
    yield { sequence: event.sequence, body: event.body };
    if (ends(stateOf(event))) return;
  }
}

/** A snapshot as frames, then what was committed after it. */
export async function* framesFrom(
  deps: OperationDeps,
  reader: Reader,
  from: { readonly snapshot: Snapshot; readonly ends: 'terminal' | 'input-required' },
): AsyncGenerator<Frame, void, undefined> {
  const { task, record } = from.snapshot;
  const bodies = snapshotFrames(task);
  for (const [index, body] of bodies.entries()) {
    yield index === bodies.length - 1 ? { sequence: record.sequence, body } : { body };
  }
  if (endsAt(from.ends)(record.status.state)) return;
  yield* framesAfter(deps, reader, { cursor: record.sequence, ends: from.ends });
}

/** Waits until the task is terminal, interrupted or gone, the time is up or the signal is aborted. */
export async function waitForStop(deps: OperationDeps, reader: Reader, waitMs: number): Promise<void> {
  const wakeup = deps.wakeups.subscribe(`stop:${reader.taskId}`);
  // A timer, not the time of day: a clock that is set back must not make anybody wait for an hour.
  let due = waitMs <= 0;
  const cancelDue = deps.clock.timer(waitMs, () => {
    due = true;
    wakeup.close();
  });
  try {
    for (;;) {
      const state = await deps.store.state(reader.owner, reader.taskId);
      if (!state || isTerminal(state) || isInterrupted(state) || due || reader.signal.aborted) return;
      await wakeup.wait(LIMITS.pollMs, reader.signal);
    }
  } finally {
    cancelDue();
    wakeup.close();
  }
}
