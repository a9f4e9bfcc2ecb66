import type { Transition } from '../../core/ports/decide.ts';
import type { TaskState } from '../../core/task.ts';

/** A transition on its way to another thread, by place: copying names takes longer than copying what they name. */
export type SentTransition = readonly [
  ...[taskId: string, contextId: string, tenant: string, principal: string, agent: string],
  ...[from: TaskState, to: TaskState, ordinal?: number, attempt?: number, trace?: string | undefined],
];

export function sentTransition({ taskId, contextId, owner, from, to, turn }: Transition): SentTransition {
  const { tenant, principal, agent } = owner;
  return turn
    ? [taskId, contextId, tenant, principal, agent, from, to, turn.ordinal, turn.attempt, turn.trace]
    : [taskId, contextId, tenant, principal, agent, from, to];
}

export function receivedTransition(sent: SentTransition): Transition {
  const [taskId, contextId, tenant, principal, agent, from, to, ordinal, attempt, trace] = sent;
  const owner = { tenant, principal, agent };
  if (ordinal === undefined || attempt === undefined) return { taskId, contextId, owner, from, to };
  const turn = trace === undefined ? { ordinal, attempt } : { ordinal, attempt, trace };
  return { taskId, contextId, owner, from, to, turn };
}
