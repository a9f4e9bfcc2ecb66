import type { Claimed } from '../ports/task-store.ts';
import type { Wakeups } from '../ports/wakeups.ts';
import type { RunningTurn } from './running-turns.ts';

/**
 * Has the turn look whenever something is said to its task or the task ends. A hint only: the heartbeat finds what was missed,
 * messages and a lost lease. Answers what ends it.
 */
export function hearNotices(wakeups: Wakeups, { fence, record }: Claimed, turn: RunningTurn): () => void {
  const topic = `turn:${fence.taskId}`;
  const listener = { wake: () => turn.check() };
  wakeups.listen(topic, listener, 'notices');
  // A message that came into the same group behind this beginning was told of when nobody listened yet.
  const told = wakeups.told(`task:${fence.taskId}`);
  if (told && told.last > record.sequence) turn.check();
  return () => wakeups.unlisten(topic, listener);
}
