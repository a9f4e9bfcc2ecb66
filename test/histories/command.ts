import type fc from 'fast-check';
import { expectTouched } from './compare.ts';
import type { Model } from './model.ts';
import type { World } from './world.ts';

export type Command = fc.AsyncCommand<Model, World>;
export type Commands = readonly fc.WeightedArbitrary<Command>[];

/** How often a command comes, beside the others. */
export function weighted(weight: number, arbitrary: fc.Arbitrary<Command>): fc.WeightedArbitrary<Command> {
  return { weight, arbitrary };
}

/** Steps that really happened, over all histories of this process. */
export const steps = { taken: 0 };

/**
 * One step of a history. `run` does it to the world and to its model and tells what happened, in a line that people
 * read when a history fails; undefined: there was nothing to do it to. Then everything that it may have changed is compared.
 */
export function command<A>(
  name: string,
  args: A,
  run: (world: World, args: A) => Promise<string | undefined>,
): Command {
  return {
    check: () => true,
    async run(_model, world) {
      const { story } = world;
      const number = story.length + 1;
      story.push(`${number}. ${name} …`);
      const told = await run(world, args);
      await world.settle();
      await expectTouched(world);
      if (told === undefined) story.pop();
      else {
        story[number - 1] = `${number}. ${told}`;
        steps.taken += 1;
      }
    },
    toString: () => name,
  };
}

/** Whatever the history has made, a number names something. */
export function pick<T>(from: readonly T[], index: number): T | undefined {
  return from[index % Math.max(1, from.length)];
}
