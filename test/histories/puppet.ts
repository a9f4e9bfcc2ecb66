import type { Agent, Turn, Update } from '../../core/ports/agent.ts';

/** An agent without a will: it yields what a test tells it to, when it does. */
export interface Puppet {
  readonly turn: Turn;
  yield(update: Update): void;
  throw(error: unknown): void;
  /** Ends without another word. */
  return(): void;
}

export interface PuppetAgent {
  readonly agent: Agent;
  /** The puppet of the turn that was started last, once. */
  started(): Puppet | undefined;
}

export function createPuppetAgent(recovery: NonNullable<Agent['recovery']>): PuppetAgent {
  let latest: Puppet | undefined;

  function run(turn: Turn): AsyncIterable<Update> {
    let answer: { resolve(result: IteratorResult<Update>): void; reject(error: unknown): void } | undefined;
    const asked = () => {
      if (!answer) throw new Error('the puppet was not asked for anything');
      return answer;
    };
    latest = {
      turn,
      yield: (value) => asked().resolve({ done: false, value }),
      throw: (error) => asked().reject(error),
      return: () => asked().resolve({ done: true, value: undefined }),
    };
    return {
      [Symbol.asyncIterator]: () => ({
        next: () =>
          new Promise((resolve, reject) => {
            answer = { resolve, reject };
          }),
        return: async () => ({ done: true, value: undefined }),
      }),
    };
  }

  return {
    agent: { recovery, run },
    started: () => {
      const puppet = latest;
      latest = undefined;
      return puppet;
    },
  };
}
