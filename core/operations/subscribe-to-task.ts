import { DomainError, taskNotFound } from '../errors.ts';
import type { EdgeProfile } from '../ports/edge.ts';
import type { Stop } from '../ports/stop.ts';
import type { Caller } from '../principal.ts';
import { isTerminal } from '../task.ts';
import type { OperationDeps } from './deps.ts';
import { endsAt, openingOf, type Reader } from './follow.ts';
import type { FrameStream } from './operations.ts';
import { type Opening, TaskFrames } from './task-frames.ts';

/**
 * SubscribeToTask (A2A 1.0, 3.1.6). Starts with the task as it is, or, when the client names the last event it has, with
 * the event after that.
 */
export async function subscribeToTask(
  deps: OperationDeps,
  edge: EdgeProfile,
  caller: Caller,
  { taskId, after, signal }: { readonly taskId: string; readonly after?: number; readonly signal: Stop },
): Promise<FrameStream> {
  const { owner } = caller;
  const snapshot = await deps.store.read(owner, taskId, { artifacts: true, historyLength: 0 });
  if (!snapshot) throw taskNotFound();
  const { record } = snapshot;
  if (isTerminal(record.status.state) && edge.subscribeFinished === 'error') {
    throw new DomainError('UNSUPPORTED_OPERATION', 'The task has ended; GetTask has its result');
  }
  const reader: Reader = { owner, taskId, signal };
  const scope = edge.subscribeEnds;
  // Behind the last event of a task that has stopped nothing would come: such a reader gets the task and the end.
  const last = endsAt(scope, record.status.state) ? record.sequence - 1 : record.sequence;
  const opening: Opening =
    after !== undefined && after <= last ? { frames: [], cursor: after } : openingOf(snapshot, scope);
  return new TaskFrames(deps, reader, { open: async () => opening, scope });
}
