import { rule } from '../decide/rules.ts';
import { taskNotFound } from '../errors.ts';
import { observeStore } from '../observed-store.ts';
import type { Caller } from '../principal.ts';
import type { Task } from '../task.ts';
import { callFields } from './call-fields.ts';
import type { OperationDeps } from './deps.ts';

/**
 * CancelTask (A2A 1.0, 3.1.5). One commit cancels and fences the runner, so the answer is CANCELED or the task had ended
 * before. Repeats answer the canceled task.
 */
export async function cancelTask(deps: OperationDeps, caller: Caller, taskId: string): Promise<Task> {
  const { owner } = caller;
  const { telemetry } = deps;
  const fields = { ...callFields(caller), trace: caller.trace };
  const store = observeStore(deps.store, { telemetry, fields });
  const { changed } = await store.update({ taskId, owner }, rule('cancel', undefined));
  if (changed) telemetry.event('info', 'task.canceled', { taskId, ...fields });
  const snapshot = await deps.store.read(owner, taskId, { artifacts: true });
  if (!snapshot) throw taskNotFound();
  return snapshot.task;
}
