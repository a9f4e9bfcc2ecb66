import { OperatorRefusal } from '../operator-refusal.ts';
import type { RetryDecision, RetryView, TurnEntry } from '../ports/operator-store.ts';
import { RETRY_OF } from './task-metadata.ts';

/*
 * What an operator may do about a turn that failed for good. Its task has ended and stays so; a retry is a new task in
 * the same context that begins with the same message.
 */

/** The dead turn that is meant: `ordinal`, or the only one there is. */
export function chooseDead(turns: readonly TurnEntry[], ordinal?: number): number {
  const dead = turns.filter(({ outcome }) => outcome === 'dead').map((turn) => turn.ordinal);
  if (ordinal !== undefined) {
    const turn = turns.find((each) => each.ordinal === ordinal);
    if (!turn) throw new OperatorRefusal('UNKNOWN_TURN', `the task has no turn ${ordinal}${listed(turns)}`);
    if (turn.outcome === 'dead') return ordinal;
    throw new OperatorRefusal('TURN_NOT_DEAD', `turn ${ordinal} is ${turn.outcome}, not dead`);
  }
  const [only, ...others] = dead;
  if (only === undefined) throw new OperatorRefusal('TURN_NOT_DEAD', `the task has no dead turn${listed(turns)}`);
  if (others.length > 0) {
    throw new OperatorRefusal('SEVERAL_DEAD_TURNS', `turns ${dead.join(', ')} are dead: say which one`);
  }
  return only;
}

function listed(turns: readonly TurnEntry[]): string {
  if (turns.length === 0) return '';
  return ` (${turns.map(({ ordinal, outcome }) => `turn ${ordinal} is ${outcome}`).join(', ')})`;
}

export interface RetryCommand {
  /** Absent: the only dead turn. */
  readonly ordinal?: number;
  /** Also when it was retried before. */
  readonly again: boolean;
  readonly newTaskId: string;
  /** How long the new task may take from now. */
  readonly deadlineMs: number;
}

export function decideRetry(view: RetryView, command: RetryCommand): RetryDecision {
  const { record, now } = view;
  const { newTaskId: id } = command;
  const ordinal = chooseDead(view.turns, command.ordinal);
  const turn = view.turns.find((each) => each.ordinal === ordinal);
  const message = view.messages.get(ordinal);
  if (!turn || !message) throw new OperatorRefusal('UNKNOWN_TURN', `turn ${ordinal} has no message`);
  if (view.tenant === 'removed') {
    throw new OperatorRefusal('TENANT_REMOVED', `the tenant ${record.owner.tenant} is removed and runs nothing`);
  }
  if (turn.retriedAs !== undefined && !command.again) {
    throw new OperatorRefusal('ALREADY_RETRIED', `turn ${ordinal} was retried already, as task ${turn.retriedAs}`);
  }
  if (view.exclusive && view.activeTaskId !== undefined) {
    throw new OperatorRefusal(
      'CONTEXT_BUSY',
      `its context may have one live task and has task ${view.activeTaskId}: wait for its end, or cancel it`,
    );
  }
  const { contextId, delegate } = record;
  const status = { state: 'TASK_STATE_SUBMITTED', timestamp: new Date(now).toISOString() } as const;
  const metadata = { [RETRY_OF]: record.id };
  return {
    ordinal,
    exclusive: view.exclusive,
    task: { id, contextId, ...(delegate === undefined ? {} : { delegate }) },
    change: {
      status,
      metadata,
      deadlineAt: now + command.deadlineMs,
      messages: [{ ...message, contextId, taskId: id }],
      events: [{ task: { id, contextId, status, metadata } }],
      executions: [{ open: 1, ...(turn.trace === undefined ? {} : { trace: turn.trace }) }],
    },
  };
}
