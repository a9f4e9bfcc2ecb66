import { taskNotFound } from '../errors.ts';
import type { EdgeProfile, Incoming } from '../ports/edge.ts';
import type { Stop } from '../ports/stop.ts';
import type { Accepted, ReadOptions } from '../ports/task-store.ts';
import { isTerminal, type TaskState } from '../task.ts';
import { acceptMessage } from './accept.ts';
import type { OperationDeps } from './deps.ts';
import { readAtStop, shown } from './follow.ts';
import type { Answer, SendOptions } from './operations.ts';
import { madeOf, plainParts } from './told-end.ts';

/**
 * SendMessage (A2A 1.0, 3.1.1). Answers at once when asked to, else at a terminal or interrupted state, and after the
 * edge's wait at the latest with the task as it then is; the work goes on.
 */
export async function sendMessage(
  deps: OperationDeps,
  edge: EdgeProfile,
  incoming: Incoming,
  { options, signal }: { readonly options: SendOptions; readonly signal: Stop },
): Promise<Answer> {
  const mayReply = edge.messageAnswers && !options.returnImmediately;
  // Before the agent gets it.
  const parts = options.historyLength === undefined ? plainParts(incoming.message) : undefined;
  const accepted = await acceptMessage(deps, edge, incoming, mayReply ? 'message' : 'task');
  const { owner } = incoming.caller;
  const taskId = accepted.record.id;
  const read: ReadOptions =
    options.historyLength === undefined
      ? { artifacts: true }
      : { artifacts: true, historyLength: options.historyLength };
  const isNew = accepted.kind === 'create' && incoming.caller.userToken === undefined;
  const answered = options.returnImmediately
    ? shown(await deps.store.read(owner, taskId, read))
    : await readAtStop(
        deps,
        { owner, taskId, signal },
        {
          options: read,
          waitMs: edge.waitMs,
          known: knownState(accepted, isNew),
          made: isNew && parts ? madeOf(accepted, incoming.message, parts) : undefined,
        },
      );
  if (!answered) throw taskNotFound();
  const { task, reply } = answered;
  if (reply && accepted.answer === 'message' && edge.messageAnswers && task.status.message) {
    return { message: task.status.message };
  }
  return { task };
}

/**
 * What the acceptance says of the task's state, if that still holds: an end holds for ever, and nobody can have stopped a
 * task that was made by the commit that has just been answered (`isNew`). Others may have been stopped in that very commit,
 * and while a user's token is renewed time passes.
 */
function knownState({ record }: Accepted, isNew: boolean): TaskState | undefined {
  const { state } = record.status;
  return isNew || isTerminal(state) ? state : undefined;
}
