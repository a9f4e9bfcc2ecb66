import { LIMITS } from '../limits.ts';
import type { Json } from '../message.ts';
import type { Capabilities, Turn } from '../ports/agent.ts';
import type { Claimed, TaskStore } from '../ports/task-store.ts';
import type { TurnWriter } from './turn-writer.ts';

export interface PrepareTurnDeps {
  readonly store: TaskStore;
  readonly capabilities: (claimed: Claimed, signal: AbortSignal) => Promise<Capabilities>;
}

function earlierLimit(limit: number | undefined): number {
  if (typeof limit !== 'number' || Number.isNaN(limit)) return LIMITS.earlierDefault;
  return Math.max(0, Math.min(Math.trunc(limit), LIMITS.earlierMax));
}

/** What the agent gets; undefined when the task was erased. */
export async function prepareTurn(
  { store, capabilities }: PrepareTurnDeps,
  claimed: Claimed,
  { writer, signal }: { readonly writer: TurnWriter; readonly signal: AbortSignal },
): Promise<Turn | undefined> {
  const { owner, id, contextId } = claimed.record;
  const snapshot = await store.read(owner, id, { artifacts: true });
  if (!snapshot) return undefined;
  return {
    task: snapshot.task,
    message: claimed.message,
    signal,
    capabilities: await capabilities(claimed, signal),
    earlier: (limit) => store.earlier(owner, contextId, id, earlierLimit(limit)),
    inbox: () => writer.inbox(),
    // The store holds JSON, so the type of a replayed result is the caller's promise, as the port says.
    step: <T extends Json>(key: string, effect: (idempotencyKey: string) => Promise<T>) =>
      writer.step(key, effect) as Promise<T>,
  };
}
