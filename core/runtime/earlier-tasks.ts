import { LIMITS } from '../limits.ts';
import type { Claimed, TaskStore } from '../ports/task-store.ts';
import type { Task } from '../task.ts';

/**
 * What was there before, for the agent: first what its message refers to (A2A 1.0, 3.4.3), then the rest of the context.
 * A reference that leads nowhere, or to somebody else, is passed over in silence: it may be a task of another agent, or
 * one whose time is over, and neither is the message's fault.
 */
export async function earlierTasks(
  store: Pick<TaskStore, 'read' | 'earlier'>,
  { record: { owner, contextId, id }, message }: Pick<Claimed, 'record' | 'message'>,
  limit?: number,
): Promise<readonly Task[]> {
  const most = bounded(limit);
  const references = new Set(message.referenceTaskIds ?? []);
  references.delete(id);
  const named: Task[] = [];
  let chars = 0;
  for (const taskId of [...references].slice(0, most)) {
    const task = (await store.read(owner, taskId, { artifacts: false }))?.task;
    if (!task) continue;
    chars += JSON.stringify(task).length;
    if (named.length > 0 && chars > LIMITS.listBytes) break;
    named.push(task);
  }
  const others = await store.earlier(owner, contextId, id, most);
  return [...named, ...others.filter((task) => !named.some((each) => each.id === task.id))].slice(0, most);
}

function bounded(limit: number | undefined): number {
  if (typeof limit !== 'number' || Number.isNaN(limit)) return LIMITS.earlierDefault;
  return Math.max(0, Math.min(Math.trunc(limit), LIMITS.earlierMax));
}
