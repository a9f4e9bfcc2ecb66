import { type Clock, pause } from '../ports/clock.ts';

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

export function createAgentSteps(iterator: AsyncIterator<unknown>, clock: Clock): AgentSteps {
  let pending: Promise<Step> | undefined;
  let stopped = false;
  let settle = (_step: Step): void => {};

  function race(): Promise<Step> {
    return new Promise((resolve) => {
      settle = resolve;
      if (stopped) {
        resolve({ kind: 'stopped' });
        return;
      }
      pending ??= iterator.next().then(
        (result): Step => ({ kind: 'update', result }),
        (error: unknown): Step => ({ kind: 'thrown', error }),
      );
      void pending.then(resolve);
    });
  }

  return {
    next: async () => {
      const step = await race();
      if (step.kind === 'update') pending = undefined;
      return step;
    },
    stop: () => {
      stopped = true;
      settle({ kind: 'stopped' });
    },
    flush: () => settle({ kind: 'flush' }),
    leave: async (ms, onError) => {
      let left = false;
      const returned = (async () => iterator.return?.())().catch(onError);
      await Promise.race([returned.then(() => (left = true)), pause(clock, ms)]);
      return left;
    },
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
