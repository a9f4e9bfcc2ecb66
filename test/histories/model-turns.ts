import { LIMITS } from '../../core/limits.ts';
import type { Json } from '../../core/message.ts';
import { TURN_TEXTS } from '../../core/runtime/turn-texts.ts';
import type { InterruptedState, TerminalState } from '../../core/task.ts';
import {
  closeTurn,
  isLive,
  isRemoved,
  type Model,
  type ModelTask,
  type ModelTurn,
  openTurn,
  openTurns,
  setState,
} from './model.ts';
import { expire, isOverdue } from './model-callers.ts';

/* What workers and their agents do to the model. */

export const LEASE_MS = 30_000;
export const PARKED_MS = 7_200_000;

export interface Chunk {
  readonly artifactId: string;
  readonly text: string;
  readonly name: string | undefined;
  readonly append: boolean;
  readonly last: boolean;
}

/** One attempt of a turn in the memory of a process, which may have lost its lease without knowing. */
export interface ModelAttempt {
  readonly taskId: string;
  readonly ordinal: number;
  readonly attempt: number;
  readonly worker: string;
  /** Messages for its inbox, those that it took since its last commit, and all that it was ever told of. */
  readonly waiting: number[];
  readonly taken: Set<number>;
  readonly seen: Set<number>;
  readonly written: Set<string>;
  /** Text that waits to be merged with more. */
  buffer: Chunk[];
  flushAt: number | undefined;
  over: boolean;
}

export function isClaimable(model: Model, task: ModelTask, turn: ModelTurn): boolean {
  if (!isLive(task) || isRemoved(model, task.person) || turn.outcome !== 'open') return false;
  if ((turn.lease?.until ?? turn.availableAt) > model.now) return false;
  const others = openTurns(task).filter((other) => other !== turn);
  return others.every((other) => other.ordinal > turn.ordinal && !(other.lease && other.lease.until > model.now));
}

export function claimable(model: Model): readonly { readonly task: ModelTask; readonly turn: ModelTurn }[] {
  return [...model.tasks.values()].flatMap((task) =>
    openTurns(task)
      .filter((turn) => isClaimable(model, task, turn))
      .map((turn) => ({ task, turn })),
  );
}

export interface ModelClaim {
  readonly attempt: ModelAttempt;
  readonly lost: boolean;
  /** Ordinals: what the turn had taken before, then what waits. */
  readonly pending: readonly number[];
  /** The agent is started; otherwise the turn is given up. */
  readonly starts: boolean;
}

/** Undefined: its time was up, so it failed instead. */
export function claim(model: Model, task: ModelTask, turn: ModelTurn, worker: string): ModelClaim | undefined {
  const lost = turn.lease !== undefined || turn.lost;
  turn.attempt += 1;
  turn.lost = false;
  turn.lease = { worker, until: model.now + LEASE_MS };
  for (const other of openTurns(task)) {
    if (other === turn || !other.lease) continue;
    other.lost = true;
    other.availableAt = other.lease.until;
    delete other.lease;
  }
  model.touched.add(task.id);
  if (isOverdue(model, task)) {
    expire(model, task);
    return undefined;
  }
  if (task.state !== 'TASK_STATE_WORKING') setState(model, task, 'TASK_STATE_WORKING');
  const taken = [...task.turns.values()]
    .filter(({ takenBy }) => takenBy === turn.ordinal)
    .map(({ ordinal }) => ordinal);
  const pending = [...taken.sort((a, b) => a - b), ...othersOpen(task, turn.ordinal)];
  const attempt: ModelAttempt = {
    ...{ taskId: task.id, ordinal: turn.ordinal, attempt: turn.attempt, worker },
    ...{ waiting: [], taken: new Set(), seen: new Set(), written: new Set() },
    ...{ buffer: [], flushAt: undefined, over: false },
  };
  const starts = !lost || (model.recovery === 'rerun' && turn.attempt <= LIMITS.maxAttempts);
  if (starts) {
    turn.runs += 1;
    deliver(attempt, pending);
  }
  return { attempt, lost, pending, starts };
}

function othersOpen(task: ModelTask, ordinal: number): readonly number[] {
  return openTurns(task)
    .map((turn) => turn.ordinal)
    .filter((other) => other !== ordinal);
}

export function deliver(attempt: ModelAttempt, ordinals: readonly number[]): void {
  for (const ordinal of ordinals) {
    if (attempt.seen.has(ordinal)) continue;
    attempt.seen.add(ordinal);
    attempt.waiting.push(ordinal);
  }
}

/** The task and turn that the attempt may still write to. */
export function held(model: Model, attempt: ModelAttempt): { task: ModelTask; turn: ModelTurn } | undefined {
  const task = model.tasks.get(attempt.taskId);
  const turn = task?.turns.get(attempt.ordinal);
  if (!task || !turn || !isLive(task) || isRemoved(model, task.person)) return undefined;
  const mine = turn.outcome === 'open' && turn.attempt === attempt.attempt && turn.lease?.worker === attempt.worker;
  return mine ? { task, turn } : undefined;
}

/** One commit under the fence. A refused one is the end of the attempt. */
function commit(
  model: Model,
  attempt: ModelAttempt,
  write: (task: ModelTask, turn: ModelTurn, taken: readonly number[]) => void,
): boolean {
  const mine = held(model, attempt);
  if (!mine) {
    attempt.over = true;
    return false;
  }
  const taken = [...attempt.taken];
  attempt.taken.clear();
  model.touched.add(mine.task.id);
  write(mine.task, mine.turn, taken);
  deliver(attempt, othersOpen(mine.task, attempt.ordinal));
  return true;
}

function closeTaken(task: ModelTask, ordinal: number, taken: readonly number[]): void {
  for (const each of taken) {
    const turn = task.turns.get(each);
    if (turn?.outcome === 'open') closeTurn(turn, 'done', ordinal);
  }
}

function isLostPart(part: { readonly turn: number; readonly attempt: number }, attempt: ModelAttempt): boolean {
  return part.turn === attempt.ordinal && part.attempt < attempt.attempt;
}

function writeChunk(task: ModelTask, attempt: ModelAttempt, { artifactId, text, append }: Chunk): void {
  const before = append ? (task.artifacts.get(artifactId) ?? []) : [];
  const kept = attempt.written.has(artifactId) ? before : before.filter((part) => !isLostPart(part, attempt));
  task.artifacts.set(artifactId, [...kept, { turn: attempt.ordinal, attempt: attempt.attempt, text }]);
  attempt.written.add(artifactId);
}

function dropLost(task: ModelTask, attempt: ModelAttempt): void {
  for (const [id, parts] of task.artifacts) {
    const kept = parts.filter((part) => !isLostPart(part, attempt));
    if (kept.length === 0) task.artifacts.delete(id);
    else task.artifacts.set(id, kept);
  }
}

export function flush(model: Model, attempt: ModelAttempt): boolean {
  const chunks = attempt.buffer;
  attempt.buffer = [];
  if (chunks.length === 0) return true;
  return commit(model, attempt, (task, turn, taken) => {
    for (const chunk of chunks) writeChunk(task, attempt, chunk);
    closeTaken(task, turn.ordinal, taken);
  });
}

/** A text that is no last chunk waits for more of the same artifact, for a moment. */
export function chunk(model: Model, attempt: ModelAttempt, given: Chunk): void {
  const [head] = attempt.buffer;
  const length = attempt.buffer.reduce((sum, { text }) => sum + text.length, given.text.length);
  const waits = !given.last && given.text.length <= LIMITS.mergeChars;
  const merges =
    head !== undefined &&
    waits &&
    given.append &&
    given.artifactId === head.artifactId &&
    (given.name ?? head.name) === head.name &&
    length <= LIMITS.mergeChars;
  if (!merges && !flush(model, attempt)) return;
  if (waits) attempt.buffer.push(given);
  else {
    commit(model, attempt, (task, turn, taken) => {
      writeChunk(task, attempt, given);
      closeTaken(task, turn.ordinal, taken);
    });
  }
}

export function progress(model: Model, attempt: ModelAttempt, said: string): void {
  if (!flush(model, attempt)) return;
  commit(model, attempt, (task, turn, taken) => {
    closeTaken(task, turn.ordinal, taken);
    setState(model, task, 'TASK_STATE_WORKING', said);
  });
}

export function end(model: Model, attempt: ModelAttempt, state: InterruptedState | TerminalState, said: string): void {
  if (!flush(model, attempt)) return;
  const left = [...attempt.waiting];
  commit(model, attempt, (task, turn, taken) => {
    if (attempt.attempt > 1) dropLost(task, attempt);
    closeTurn(turn, 'done');
    const reopened = left.filter((ordinal) => task.turns.get(ordinal)?.outcome !== 'open');
    closeTaken(task, turn.ordinal, taken);
    const final = state !== 'TASK_STATE_COMPLETED' && !state.endsWith('_REQUIRED');
    if (!final) for (const ordinal of reopened) openTurn(model, task, ordinal);
    if (!final && openTurns(task).length > 0) {
      if (said !== '') task.history.push(`agent: ${said}`);
      setState(model, task, 'TASK_STATE_WORKING', said);
      return;
    }
    const unsaid = state === 'TASK_STATE_AUTH_REQUIRED' ? TURN_TEXTS.authorization : '';
    setState(model, task, state, said || unsaid);
    if (state === 'TASK_STATE_INPUT_REQUIRED') task.deadlineAt = model.now + PARKED_MS;
  });
  attempt.over = true;
}

/** The turn is dead and so is its task. `keepsLost`: nobody was started again, so what was written stays. */
export function fail(model: Model, attempt: ModelAttempt, said: string, keepsLost = false): void {
  if (flush(model, attempt)) {
    commit(model, attempt, (task, turn, taken) => {
      if (attempt.attempt > 1 && !keepsLost) dropLost(task, attempt);
      closeTurn(turn, 'dead');
      closeTaken(task, turn.ordinal, taken);
      setState(model, task, 'TASK_STATE_FAILED', said);
    });
  }
  attempt.over = true;
}

export function park(model: Model, attempt: ModelAttempt, said: string, hash: string): void {
  if (flush(model, attempt)) {
    commit(model, attempt, (task, turn, taken) => {
      const current = model.credentials.get(task.person.name);
      if (hash !== '' && current && current.expiresAt > model.now && current.hash !== hash) {
        openTurn(model, task, turn.ordinal);
        turn.resumed += 1;
        closeTaken(task, turn.ordinal, taken);
        return;
      }
      closeTaken(task, turn.ordinal, othersOpen(task, turn.ordinal));
      closeTurn(turn, 'closed');
      setState(model, task, 'TASK_STATE_AUTH_REQUIRED', said);
      task.parked = { ordinal: turn.ordinal, hash };
      if (hash === '' || current?.hash === hash) model.credentials.delete(task.person.name);
    });
  }
  attempt.over = true;
}

export function giveBack(model: Model, attempt: ModelAttempt): void {
  if (flush(model, attempt)) {
    commit(model, attempt, (task, turn, taken) => {
      openTurn(model, task, turn.ordinal);
      closeTaken(task, turn.ordinal, taken);
    });
  }
  attempt.over = true;
}

/** Messages that the inbox hands over, as ordinals. */
export function takeInbox(attempt: ModelAttempt): readonly number[] {
  const ordinals = attempt.waiting.splice(0);
  for (const ordinal of ordinals) attempt.taken.add(ordinal);
  return ordinals;
}

function stepOf({ ordinal }: ModelAttempt, key: string): string {
  return `${ordinal} ${key}`;
}

/** A step that has a result is not run again. */
export function beginStep(
  model: Model,
  attempt: ModelAttempt,
  key: string,
): 'starts' | 'refused' | { readonly result: Json } {
  // The agent hears of the refusal, the turn does not: it goes on until its next update.
  const mine = held(model, attempt);
  if (!mine) {
    attempt.buffer = [];
    return 'refused';
  }
  flush(model, attempt);
  const result = mine.task.steps.get(stepOf(attempt, key));
  return result === undefined ? 'starts' : { result };
}

/** Its effect is over. Undefined: the result came too late. The first one that is stored counts. */
export function endStep(model: Model, attempt: ModelAttempt, key: string, value: Json): Json | undefined {
  const mine = held(model, attempt);
  if (!mine) return undefined;
  const name = stepOf(attempt, key);
  const result = mine.task.steps.get(name) ?? value;
  mine.task.steps.set(name, result);
  return result;
}

/** The worker asks whether the attempt still holds its lease: then it learns of new messages, else it is over. */
export function notice(model: Model, attempt: ModelAttempt): boolean {
  const mine = held(model, attempt);
  if (mine) deliver(attempt, othersOpen(mine.task, attempt.ordinal));
  else attempt.over = true;
  return mine !== undefined;
}

export function heartbeat(model: Model, attempt: ModelAttempt): void {
  const mine = held(model, attempt);
  if (mine?.turn.lease) mine.turn.lease.until = model.now + LEASE_MS;
  notice(model, attempt);
}
