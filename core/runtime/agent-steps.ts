import type { Clock } from '../ports/clock.ts';

export type Step =
  | { readonly kind: 'update'; readonly result: IteratorResult<unknown> }
  | { readonly kind: 'thrown'; readonly error: unknown }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'flush' };

/** What an agent yields, raced with everything that does not wait for an agent. */
export interface AgentSteps {
  /** What comes first. An update that lost the race is not lost: it answers a later call. */
  next(): Promise<Step>;
  /** The agent is not asked again, and not waited for. */
  stop(): void;
  /** Answers the call to `next` that waits, if one does. */
  flush(): void;
  /** Lets the agent go. False when it did not leave within `ms`. */
  leave(ms: number, onError: (error: unknown) => void): Promise<boolean>;
}

const STOPPED: Step = { kind: 'stopped' };
const FLUSH: Step = { kind: 'flush' };

export function createAgentSteps(iterator: AsyncIterator<unknown>, clock: Clock): AgentSteps {
  let stopped = false;
  /** The agent was asked and has not answered yet. */
  let asked = false;
  /** What it answered while nobody waited for it. */
  let arrived: Step | undefined;
  let settle: ((step: Step) => void) | undefined;

  /** True when somebody waited for it. */
  function give(step: Step): boolean {
    const waiting = settle;
    settle = undefined;
    waiting?.(step);
    return waiting !== undefined;
  }

  function arrive(step: Step): void {
    asked = false;
    if (!give(step)) arrived = step;
  }

  function ask(): void {
    asked = true;
    iterator.next().then(
      (result) => arrive({ kind: 'update', result }),
      (error: unknown) => arrive({ kind: 'thrown', error }),
    );
  }

  return {
    next: () => {
      const step = stopped ? STOPPED : arrived;
      if (step !== undefined) {
        arrived = undefined;
        return Promise.resolve(step);
      }
      return new Promise((resolve) => {
        settle = resolve;
        if (!asked) ask();
      });
    },
    stop: () => {
      stopped = true;
      give(STOPPED);
    },
    flush: () => {
      give(FLUSH);
    },
    leave: (ms, onError) =>
      new Promise((resolve) => {
        // Taken back: thousands of turns a second would each leave a timer of seconds behind.
        const cancel = clock.timer(ms, () => resolve(false));
        const left = (): void => {
          cancel();
          resolve(true);
        };
        const failed = (error: unknown): void => {
          onError(error);
          left();
        };
        try {
          Promise.resolve(iterator.return?.()).then(left, failed);
        } catch (error) {
          failed(error);
        }
      }),
  };
}

/** Of what `run` answered. Throws TypeError when that is nothing to iterate, as of an agent in plain JavaScript. */
export function iteratorOf(updates: AsyncIterable<unknown> | undefined): AsyncIterator<unknown> {
  const iterate: unknown = updates?.[Symbol.asyncIterator];
  if (typeof iterate === 'function') return iterate.call(updates) as AsyncIterator<unknown>;
  // An async function: what it throws later has nobody else to hear it.
  Promise.resolve(updates).catch(() => {});
  throw new TypeError('run has to be an async generator (async *run), or answer another async iterable');
}
