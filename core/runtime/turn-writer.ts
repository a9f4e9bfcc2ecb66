import type { Writer } from '../decide/artifact.ts';
import { rule } from '../decide/rules.ts';
import type { Saying } from '../decide/status.ts';
import type { EndCommand, ParkCommand } from '../decide/turn.ts';
import type { Json, JsonObject, Message } from '../message.ts';
import type { ObservedStore } from '../observed-store.ts';
import type { Clock, Digest } from '../ports/clock.ts';
import type { Decide } from '../ports/decide.ts';
import type { Change, Claimed, PendingMessage, TaskView, UpdateRequest } from '../ports/task-store.ts';
import { checkStepKey, checkStepResult } from './agent-update.ts';
import { type Chunk, createChunkBuffer, plainText } from './chunk-buffer.ts';
import { patiently } from './patience.ts';

/*
 * Everything that a turn commits goes through here, one commit after the other and each under the turn's fence. Messages
 * that the inbox handed over are closed by the next commit, whatever it is.
 */

export interface TurnWriterDeps {
  readonly store: Pick<ObservedStore, 'update' | 'beginStep' | 'endStep'>;
  readonly clock: Clock;
  readonly digest: Digest;
  /** How long a commit is tried again while the store cannot answer. */
  readonly patienceMs: number;
}

export interface TurnWriter {
  /** Messages that arrived since, each once. */
  inbox(): readonly Message[];
  deliver(pending: readonly PendingMessage[]): void;
  /** Highest ordinal of a message that this turn knows, its own among them. */
  newest(): number;
  progress(saying: Saying | undefined, metadata?: JsonObject): Promise<void>;
  /** Merges, or flushes and commits. */
  chunk(chunk: Chunk): Promise<void>;
  flush(): Promise<void>;
  /** Text waits to be flushed. */
  buffered(): boolean;
  end(command: Omit<EndCommand, 'taken' | 'left'>): Promise<void>;
  fail(saying: Saying, error: string): Promise<void>;
  /** Fails a turn whose agent was not started again: what its lost attempts wrote is all there is, and stays. */
  giveUp(saying: Saying, error: string): Promise<void>;
  park(command: Omit<ParkCommand, 'taken'>): Promise<void>;
  giveBack(): Promise<void>;
  step(key: string, effect: (idempotencyKey: string) => Promise<Json>): Promise<Json>;
  /** Asks the store whether the lease still holds, and for new messages. */
  check(): Promise<void>;
}

const NOTHING: readonly number[] = [];

export function createTurnWriter(deps: TurnWriterDeps, claimed: Claimed): TurnWriter {
  const { store, clock, digest } = deps;
  const { fence } = claimed;
  const writer: Writer = { ordinal: fence.ordinal, attempt: fence.attempt };
  const buffer = createChunkBuffer();
  const waiting: PendingMessage[] = [];
  const seen = new Set<number>();
  // What is open at the claim comes with it, and every later message of the task has a higher ordinal.
  let newest = Math.max(fence.ordinal, ...claimed.pending.map(({ ordinal }) => ordinal));
  const taken = new Set<number>();
  /** Artifacts that this attempt wrote, with the media type of the text that may be continued (`null`: none may). */
  const written = new Map<string, { readonly mediaType: string | undefined } | null>();
  let tail: Promise<unknown> = Promise.resolve();
  /** A look that waits for its turn. */
  let looking: Promise<void> | undefined;
  /** The turn was ended by a commit of its own. */
  let over = false;

  function serially<T>(work: () => Promise<T>): Promise<T> {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  }

  function deliver(pending: readonly PendingMessage[]): void {
    for (const message of pending) {
      if (seen.has(message.ordinal)) continue;
      seen.add(message.ordinal);
      newest = Math.max(newest, message.ordinal);
      waiting.push(message);
    }
  }

  const patient = <T>(work: () => Promise<T>): Promise<T> => patiently(clock, deps.patienceMs, work);

  type Asked = Omit<UpdateRequest, 'taskId' | 'fence'>;
  const asked = (more?: Asked): UpdateRequest => ({ taskId: fence.taskId, fence, pendingAfter: newest, ...more });

  /** `make` gets what the inbox handed over until now, which this commit closes. */
  async function commit(
    make: (handed: readonly number[]) => Decide<[view: TaskView], Change | undefined>,
    request?: Asked,
  ): Promise<void> {
    const handed = taken.size === 0 ? NOTHING : [...taken];
    const decide = make(handed);
    const updated = await patient(() => store.update(asked(request), decide));
    // A look without a change has closed nothing.
    if (updated.changed) for (const ordinal of handed) taken.delete(ordinal);
    deliver(updated.pending);
  }

  async function commitChunk(chunk: Chunk): Promise<void> {
    const { artifactId } = chunk.artifact;
    const before = written.get(artifactId);
    const plain = plainText(chunk);
    const command = {
      first: before === undefined,
      joinsPrevious: chunk.append && !!before && !!plain && before.mediaType === plain.mediaType,
      ...chunk,
    };
    await commit((taken) => rule('chunk', { writer, taken, command }), { artifactIds: [artifactId] });
    written.set(artifactId, plain && !chunk.lastChunk ? { mediaType: plain.mediaType } : null);
  }

  async function flush(): Promise<void> {
    const chunk = buffer.take();
    if (chunk) await commitChunk(chunk);
  }

  const atEnd = { lostArtifacts: fence.attempt > 1 };
  const flushed = (work: () => Promise<void>): Promise<void> =>
    serially(() => (buffer.waiting() ? flush().then(work) : work()));

  /** The commit after which the turn holds no lease any more. */
  const ended = (...commitOf: Parameters<typeof commit>): Promise<void> =>
    flushed(async () => {
      await commit(...commitOf);
      over = true;
    });

  const fail = (saying: Saying, error: string, request?: typeof atEnd): Promise<void> =>
    ended((taken) => rule('fail', { writer, command: { saying, error, taken } }), request);

  return {
    inbox: () => {
      const messages = waiting.splice(0);
      for (const { ordinal } of messages) taken.add(ordinal);
      return messages.map(({ message }) => message);
    },
    deliver,
    newest: () => newest,
    progress: (saying, metadata) =>
      flushed(() =>
        commit((taken) =>
          rule('progress', { writer, taken, ...(saying && { saying }), ...(metadata && { metadata }) }),
        ),
      ),
    chunk: (chunk) =>
      serially(async () => {
        if (buffer.offer(chunk)) return;
        await flush();
        if (!buffer.offer(chunk)) await commitChunk(chunk);
      }),
    flush: () => serially(flush),
    buffered: () => buffer.waiting(),
    end: (command) =>
      ended((taken) => {
        const left = waiting.map(({ ordinal }) => ordinal);
        return rule('end', { writer, command: { taken, left, ...command } });
      }, atEnd),
    fail: (saying, error) => fail(saying, error, atEnd),
    giveUp: (saying, error) => fail(saying, error),
    park: (command) => ended((taken) => rule('park', { writer, command: { ...command, taken } })),
    giveBack: () => ended((taken) => rule('giveBack', { writer, taken })),
    step: async (key, effect) => {
      checkStepKey(key);
      await serially(flush);
      const begun = await serially(() => patient(() => store.beginStep(fence, key)));
      if (begun.result) return begun.result.value;
      const value = checkStepResult(await effect(digest(JSON.stringify([fence.taskId, fence.ordinal, key]))));
      return serially(() => patient(() => store.endStep(fence, key, value)));
    },
    // Its own end wakes a turn as everybody else's does, and there is nothing left to ask for.
    check: () => {
      // What the agent wants to commit must not wait behind looks that pile up while the store is away.
      looking ??= serially(async () => {
        looking = undefined;
        if (!over) deliver((await store.update(asked(), rule('look', undefined))).pending);
      });
      return looking;
    },
  };
}
