import type { Json } from '../../core/message.ts';
import type { EdgeProfile } from '../../core/ports/edge.ts';
import type { Owner } from '../../core/principal.ts';
import { isTerminal, type TaskState } from '../../core/task.ts';
import { A2A, ROVO } from '../support/client.ts';

/*
 * What the service is supposed to be, small enough to be believed by reading: tasks with turns, in memory, one thing at
 * a time. It shares no code with the rules that it checks but the names of the states.
 */

export interface Person {
  readonly name: string;
  readonly owner: Owner;
  readonly edge: EdgeProfile;
}

function person(name: string, tenant: string, edge: EdgeProfile): Person {
  return { name, owner: { tenant, principal: name, agent: 'agent' }, edge };
}

export const PEOPLE = [
  person('alice', 'jwt:one', A2A),
  person('bob', 'jwt:one', A2A),
  person('carol', 'rovo:two', ROVO),
] as const satisfies readonly Person[];

export interface ModelPart {
  readonly turn: number;
  readonly attempt: number;
  readonly text: string;
}

export interface ModelTurn {
  readonly ordinal: number;
  outcome: 'open' | 'done' | 'dead' | 'closed';
  attempt: number;
  availableAt: number;
  lease?: { readonly worker: string; until: number };
  /** Its lease ran out and another turn of the task was claimed meanwhile. */
  lost: boolean;
  takenBy?: number;
  /** How often the agent was started for it, and how often it may be again because it was parked. */
  runs: number;
  resumed: number;
}

export interface ModelTask {
  /** In the order of creation, for people. */
  readonly number: number;
  readonly id: string;
  readonly person: Person;
  readonly contextId: string;
  state: TaskState;
  said: string;
  readonly history: string[];
  readonly turns: Map<number, ModelTurn>;
  readonly artifacts: Map<string, readonly ModelPart[]>;
  readonly steps: Map<string, Json>;
  deadlineAt: number | undefined;
  parked: { readonly ordinal: number; readonly hash: string } | undefined;
  endedAt: number | undefined;
  /** Of the last status that anybody saw. */
  seenAt: number;
}

export interface ModelCredential {
  readonly hash: string;
  readonly expiresAt: number;
}

export interface Model {
  now: number;
  readonly recovery: 'rerun' | 'review';
  readonly tasks: Map<string, ModelTask>;
  /** Person, context as sent and message id, to what was accepted under them. */
  readonly keys: Map<string, { readonly fingerprint: string; readonly taskId: string }>;
  readonly removedAt: Map<string, number>;
  readonly credentials: Map<string, ModelCredential>;
  created: number;
  /** Tasks that this command may have changed: they are compared when it is over. */
  readonly touched: Set<string>;
}

export function createModel(now: number, recovery: Model['recovery']): Model {
  return {
    now,
    recovery,
    tasks: new Map(),
    keys: new Map(),
    removedAt: new Map(),
    credentials: new Map(),
    created: 0,
    touched: new Set(),
  };
}

export function numberOf({ tasks }: Model, taskId: string): string {
  const task = tasks.get(taskId);
  return task ? `task ${task.number}` : taskId;
}

export function isLive(task: ModelTask): boolean {
  return !isTerminal(task.state);
}

export function isRemoved(model: Model, { owner }: Person): boolean {
  return model.removedAt.has(owner.tenant);
}

export function tasksOf(model: Model, person: Person): readonly ModelTask[] {
  return [...model.tasks.values()].filter((task) => task.person === person);
}

export function openTurns(task: ModelTask): readonly ModelTurn[] {
  return [...task.turns.values()].filter(({ outcome }) => outcome === 'open').sort((a, b) => a.ordinal - b.ordinal);
}

export function openTurn(model: Model, task: ModelTask, ordinal: number): void {
  const known = task.turns.get(ordinal);
  if (!known) {
    task.turns.set(ordinal, {
      ordinal,
      outcome: 'open',
      attempt: 0,
      availableAt: model.now,
      lost: false,
      runs: 0,
      resumed: 0,
    });
    return;
  }
  closeTurn(known, 'open');
  known.availableAt = model.now;
}

export function closeTurn(turn: ModelTurn, outcome: ModelTurn['outcome'], takenBy?: number): void {
  turn.outcome = outcome;
  turn.lost = false;
  delete turn.lease;
  delete turn.takenBy;
  if (takenBy !== undefined) turn.takenBy = takenBy;
}

/** A state, and what people read beside it. */
export function setState(model: Model, task: ModelTask, state: TaskState, said = ''): void {
  task.state = state;
  task.said = said;
  model.touched.add(task.id);
  if (!isTerminal(state)) return;
  task.deadlineAt = undefined;
  task.parked = undefined;
  task.endedAt = model.now;
  for (const turn of openTurns(task)) closeTurn(turn, 'closed');
  if (!tasksOf(model, task.person).some(isLive)) model.credentials.delete(task.person.name);
}

export function forget(model: Model, task: ModelTask): void {
  model.tasks.delete(task.id);
  model.touched.add(task.id);
  for (const [key, { taskId }] of model.keys) if (taskId === task.id) model.keys.delete(key);
}
