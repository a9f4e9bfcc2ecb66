import { taskNotFound } from '../errors.ts';
import type { EdgeProfile, Incoming } from '../ports/edge.ts';
import { acceptMessage } from './accept.ts';
import type { OperationDeps } from './deps.ts';
import { waitForStop } from './follow.ts';
import type { Answer, SendOptions } from './operations.ts';

/**
 * SendMessage (A2A 1.0, 3.1.1). Answers at once when asked to, else at a terminal or interrupted state, and after the
 * edge's wait at the latest with the task as it then is; the work goes on.
 */
export async function sendMessage(
  deps: OperationDeps,
  edge: EdgeProfile,
  incoming: Incoming,
  { options, signal }: { readonly options: SendOptions; readonly signal: AbortSignal },
): Promise<Answer> {
  const mayReply = edge.messageAnswers && !options.returnImmediately;
  const accepted = await acceptMessage(deps, edge, incoming, mayReply ? 'message' : 'task');
  const { owner } = incoming.caller;
  const taskId = accepted.record.id;
  if (!options.returnImmediately) await waitForStop(deps, { owner, taskId, signal }, edge.waitMs);
  const snapshot = await deps.store.read(owner, taskId, {
    artifacts: true,
    ...(options.historyLength !== undefined ? { historyLength: options.historyLength } : {}),
  });
  if (!snapshot) throw taskNotFound();
  const { record, task } = snapshot;
  if (record.reply && accepted.answer === 'message' && edge.messageAnswers && record.status.message) {
    return { message: record.status.message };
  }
  return { task };
}
