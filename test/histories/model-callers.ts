import type { ErrorCode } from '../../core/errors.ts';
import {
  forget,
  isLive,
  isRemoved,
  type Model,
  type ModelCredential,
  type ModelTask,
  openTurn,
  PEOPLE,
  type Person,
  setState,
  tasksOf,
} from './model.ts';

/* What callers and the janitor do to the model. */

export const DEADLINE_MS = 3_600_000;
export const REVIVE_MS = 600_000;

export interface Sending {
  readonly person: Person;
  /** null: the message has none. */
  readonly messageId: string | null;
  readonly text: string;
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
}

export type Sent =
  | { readonly refused: ErrorCode }
  | { readonly repeats: ModelTask }
  | { readonly continues: ModelTask }
  /** In this context, or in one of its own. */
  | { readonly creates: true };

function keyOf({ person, contextId, messageId }: Sending): string {
  return JSON.stringify([person.name, contextId ?? '', messageId]);
}

function fingerprintOf({ text, taskId }: Sending): string {
  return JSON.stringify([text, taskId ?? '']);
}

export function decide(model: Model, sending: Sending): Sent {
  const { person, contextId, taskId } = sending;
  if (isRemoved(model, person)) return { refused: 'UNAUTHENTICATED' };
  const first = sending.messageId === null ? undefined : model.keys.get(keyOf(sending));
  if (first) {
    const task = model.tasks.get(first.taskId);
    if (first.fingerprint !== fingerprintOf(sending) || !task) return { refused: 'MESSAGE_ID_CONFLICT' };
    return { repeats: task };
  }
  const found = taskId === undefined ? undefined : model.tasks.get(taskId);
  const named = found?.person === person ? found : undefined;
  if (named && contextId !== undefined && named.contextId !== contextId) return { refused: 'INVALID_PARAMS' };
  if (person.edge.contextPolicy === 'parallel') {
    if (taskId === undefined) return { creates: true };
    if (!named) return { refused: 'TASK_NOT_FOUND' };
    return isLive(named) ? { continues: named } : { refused: 'UNSUPPORTED_OPERATION' };
  }
  if (named && isLive(named)) return { continues: named };
  if (taskId !== undefined && contextId === undefined) return { refused: 'TASK_NOT_FOUND' };
  const active = tasksOf(model, person).find((task) => isLive(task) && task.contextId === contextId);
  return active ? { continues: active } : { creates: true };
}

export function remember(model: Model, sending: Sending, task: ModelTask): void {
  if (sending.messageId === null) return;
  model.keys.set(keyOf(sending), { fingerprint: fingerprintOf(sending), taskId: task.id });
}

export function create(
  model: Model,
  sending: Sending,
  made: { readonly id: string; readonly contextId: string },
): ModelTask {
  model.created += 1;
  const task: ModelTask = {
    number: model.created,
    ...made,
    person: sending.person,
    state: 'TASK_STATE_SUBMITTED',
    said: '',
    history: [`user: ${sending.text}`],
    turns: new Map(),
    artifacts: new Map(),
    steps: new Map(),
    deadlineAt: model.now + DEADLINE_MS,
    parked: undefined,
    endedAt: undefined,
    seenAt: model.now,
  };
  model.tasks.set(task.id, task);
  openTurn(model, task, 1);
  model.touched.add(task.id);
  return task;
}

export function follow(model: Model, { text }: Sending, task: ModelTask): void {
  model.touched.add(task.id);
  if (task.state === 'TASK_STATE_INPUT_REQUIRED' || task.state === 'TASK_STATE_AUTH_REQUIRED') {
    if (task.state === 'TASK_STATE_INPUT_REQUIRED' && task.said !== '') task.history.push(`agent: ${task.said}`);
    setState(model, task, 'TASK_STATE_WORKING');
    task.deadlineAt = model.now + DEADLINE_MS;
    resumeParked(model, task);
  }
  task.history.push(`user: ${text}`);
  openTurn(model, task, task.history.length);
}

function resumeParked(model: Model, task: ModelTask): void {
  const turn = task.parked && task.turns.get(task.parked.ordinal);
  task.parked = undefined;
  if (!turn) return;
  openTurn(model, task, turn.ordinal);
  turn.resumed += 1;
}

/** A token came with a call of this person. */
export function renew(model: Model, person: Person, credential: ModelCredential): void {
  if (isRemoved(model, person)) return;
  keep(model, person, credential);
  const current = model.credentials.get(person.name);
  if (!current || current.expiresAt <= model.now) return;
  for (const task of tasksOf(model, person)) {
    if (!task.parked || task.parked.hash === current.hash || task.parked.hash === credential.hash) continue;
    setState(model, task, 'TASK_STATE_WORKING');
    resumeParked(model, task);
  }
}

export function keep(model: Model, person: Person, credential: ModelCredential): void {
  const stored = model.credentials.get(person.name);
  if (credential.expiresAt <= model.now || !tasksOf(model, person).some(isLive)) return;
  if (tasksOf(model, person).some((task) => isLive(task) && task.parked?.hash === credential.hash)) return;
  if (stored && (stored.hash === credential.hash || credential.expiresAt < stored.expiresAt)) return;
  model.credentials.set(person.name, credential);
}

export function cancel(model: Model, person: Person, taskId: string): ErrorCode | undefined {
  const task = model.tasks.get(taskId);
  if (!task || task.person !== person) return 'TASK_NOT_FOUND';
  if (task.state === 'TASK_STATE_CANCELED') return undefined;
  if (!isLive(task)) return 'TASK_NOT_CANCELABLE';
  setState(model, task, 'TASK_STATE_CANCELED');
  return undefined;
}

const UNANSWERED = 'Nobody answered the question in time, so this was closed. Start again whenever you like.';
const TOO_LONG = 'This took longer than it may and was stopped. Start again, perhaps with a smaller request.';

export function isOverdue(model: Model, task: ModelTask): boolean {
  return isLive(task) && task.deadlineAt !== undefined && task.deadlineAt <= model.now;
}

export function expire(model: Model, task: ModelTask): void {
  setState(model, task, 'TASK_STATE_FAILED', task.state === 'TASK_STATE_INPUT_REQUIRED' ? UNANSWERED : TOO_LONG);
}

export function purge(model: Model, olderThanMs: number): number {
  const gone = [...model.tasks.values()].filter(
    ({ endedAt }) => endedAt !== undefined && endedAt <= model.now - olderThanMs,
  );
  for (const task of gone) forget(model, task);
  return gone.length;
}

export function removeTenant(model: Model, tenant: string): void {
  if (model.removedAt.has(tenant)) return;
  model.removedAt.set(tenant, model.now);
  for (const { name, owner } of PEOPLE) if (owner.tenant === tenant) model.credentials.delete(name);
}

export function eraseTenant(model: Model, tenant: string): number {
  if (!model.removedAt.has(tenant)) return 0;
  const gone = [...model.tasks.values()].filter((task) => task.person.owner.tenant === tenant);
  for (const task of gone) forget(model, task);
  return gone.length;
}

/** A call of the installation long enough after it was removed brings it back, empty. */
export function reviveTenant(model: Model, tenant: string): void {
  const removedAt = model.removedAt.get(tenant);
  if (removedAt === undefined || model.now - removedAt < REVIVE_MS) return;
  eraseTenant(model, tenant);
  model.removedAt.delete(tenant);
}
