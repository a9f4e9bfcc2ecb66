import { taskNotFound } from '../errors.ts';
import type { Caller } from '../principal.ts';
import type { Task } from '../task.ts';
import type { OperationDeps } from './deps.ts';

/** GetTask (A2A 1.0, 3.1.3). A foreign task is a missing one. */
export async function getTask(
  deps: OperationDeps,
  caller: Caller,
  taskId: string,
  historyLength?: number,
): Promise<Task> {
  const options = historyLength === undefined ? { artifacts: true } : { artifacts: true, historyLength };
  const snapshot = await deps.store.read(caller.owner, taskId, options);
  if (!snapshot) throw taskNotFound();
  return snapshot.task;
}
