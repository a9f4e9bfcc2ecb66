import type { Json } from '../message.ts';
import type { Capabilities, Turn } from '../ports/agent.ts';
import type { Claimed, TaskStore } from '../ports/task-store.ts';
import type { Task } from '../task.ts';
import { earlierTasks } from './earlier-tasks.ts';
import type { TurnWriter } from './turn-writer.ts';

export interface PrepareTurnDeps {
  readonly store: TaskStore;
  /** Of `turn` the signal is taken only when it is needed: see StopSignal. */
  readonly capabilities: (claimed: Claimed, turn: { readonly signal: AbortSignal }) => Promise<Capabilities>;
}

/**
 * The first attempt of a task's first turn: what the claim brought is all there is, so nothing has to be read. With copies of
 * what the record holds: an agent in plain JavaScript can change what it gets, and a store without a thread of its own goes on
 * with that very record.
 */
function freshTask({ fence, record, message }: Claimed): Task | undefined {
  if (fence.ordinal !== 1 || fence.attempt !== 1 || record.messages !== 1) return undefined;
  const { id, contextId, metadata } = record;
  const task = { id, contextId, status: { ...record.status }, artifacts: [], history: [message] };
  return metadata ? { ...task, metadata: { ...metadata } } : task;
}

const STOP = Symbol('stop');

interface Stopped {
  readonly [STOP]: { readonly signal: AbortSignal };
}

/**
 * A property of the turn's own, so that it is in copies of the turn, too, and made when it is asked for. One getter for all
 * turns: with one each, the engine keeps every turn as a hash table. Whoever has the turn may put a signal of its own there.
 */
const SIGNAL: PropertyDescriptor & ThisType<Stopped> = {
  enumerable: true,
  configurable: true,
  get() {
    return this[STOP].signal;
  },
};

/** What the agent gets; undefined when the task was erased. */
export async function prepareTurn(
  { store, capabilities }: PrepareTurnDeps,
  claimed: Claimed,
  { writer, stop }: { readonly writer: TurnWriter; readonly stop: { readonly signal: AbortSignal } },
): Promise<Turn | undefined> {
  const { owner, id } = claimed.record;
  const task = freshTask(claimed) ?? (await store.read(owner, id, { artifacts: true }))?.task;
  if (!task) return undefined;
  const granted = await capabilities(claimed, stop);
  const turn: Omit<Turn, 'signal'> & Partial<Turn> & Stopped = {
    task,
    message: claimed.message,
    capabilities: granted,
    earlier: (limit) => earlierTasks(store, claimed, limit),
    inbox: () => writer.inbox(),
    // The store holds JSON, so the type of a replayed result is the caller's promise, as the port says.
    step: <T extends Json>(key: string, effect: (idempotencyKey: string) => Promise<T>) =>
      writer.step(key, effect) as Promise<T>,
    [STOP]: stop,
  };
  return Object.defineProperty(turn, 'signal', SIGNAL) as Turn;
}
