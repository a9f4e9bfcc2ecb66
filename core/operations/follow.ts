import type { EventBody } from '../event.ts';
import { snapshotFrames } from '../frame-size.ts';
import { LIMITS } from '../limits.ts';
import type { Snapshot } from '../ports/task-store.ts';
import type { Owner } from '../principal.ts';
import { isInterrupted, isTerminal, type TaskState } from '../task.ts';
import type { OperationDeps } from './deps.ts';
import type { Opening } from './task-frames.ts';

/*
 * Readers of a task. Each holds a cursor and reads committed events behind it; wake-ups only tell when to look. They
 * subscribe before they read, so nothing falls between a snapshot and the first event after it.
 */

export interface Reader {
  readonly owner: Owner;
  readonly taskId: string;
  readonly signal: AbortSignal;
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
