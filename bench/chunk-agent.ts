import { setTimeout as pause } from 'node:timers/promises';
import { textOf } from '../core/message.ts';
import type { Agent } from '../core/ports/agent.ts';
import { monotonicMs } from './monotonic.ts';

/** What the message tells this agent to do, as JSON. */
export interface ChunkScript {
  /** Chunks of one artifact. Each has metadata, so that no two may share a commit. */
  readonly count: number;
  /** Of one chunk. */
  readonly chars: number;
  /** Between two chunks. Default: as fast as they are committed. */
  readonly everyMs?: number;
  /** Then the task works on until it is canceled. */
  readonly hold?: boolean;
}

/** Of each chunk, by the clock that processes share. */
export interface ChunkTimes {
  readonly index: number;
  readonly yieldedAt: number;
  /** When the chunk before it was committed. */
  readonly previousCommittedAt: number;
}

/** Yields chunks and completes with the milliseconds that they took. */
export const agent: Agent = {
  recovery: 'rerun',
  run: async function* ({ message, signal }) {
    const { count, chars, everyMs, hold } = JSON.parse(textOf(message.parts)) as ChunkScript;
    const text = 'x'.repeat(chars);
    const began = monotonicMs();
    let committedAt = began;
    for (let index = 0; index < count; index += 1) {
      const times = { index, yieldedAt: monotonicMs(), previousCommittedAt: committedAt } satisfies ChunkTimes;
      yield { artifact: { artifactId: 'log', parts: [{ text, metadata: times }] }, append: index > 0 };
      // It is asked for more when that one is committed.
      committedAt = monotonicMs();
      if (everyMs !== undefined) await pause(everyMs, undefined, { signal });
    }
    if (hold) {
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    }
    yield { state: 'TASK_STATE_COMPLETED', message: String(monotonicMs() - began) };
  },
};
