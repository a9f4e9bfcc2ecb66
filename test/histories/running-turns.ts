import assert from 'node:assert/strict';
import { LIMITS } from '../../core/limits.ts';
import { type Model, numberOf } from './model.ts';
import { flush, held, type ModelAttempt } from './model-turns.ts';
import type { Running, World } from './world.ts';

/* Turns in the memory of a process, those among them that have lost their lease without knowing. */

export function nameOf({ model }: World, { attempt: mine }: Running): string {
  const zombie = held(model, mine) ? '' : ', zombie';
  return `${mine.worker} (${numberOf(model, mine.taskId)}, turn ${mine.ordinal}, attempt ${mine.attempt}${zombie})`;
}

/** Those whose agent waits to be told what to do. */
export function obedient({ running }: World): readonly Running[] {
  return running.filter(({ attempt, puppet }) => !attempt.over && puppet);
}

/** Text that waits is written a moment after it came, if nothing else makes it so before. */
export function startFlushTimer(model: Model, mine: ModelAttempt): void {
  if (mine.buffer.length > 0 && !mine.over) mine.flushAt ??= model.now + LIMITS.mergeMs;
}

/** Moves the clock, and what happens because time passed happens. */
export async function pass(world: World, ms: number): Promise<void> {
  world.model.now += ms;
  world.clock.jump(ms);
  await world.settle();
  for (const { attempt: mine } of world.running) {
    if (mine.over || mine.flushAt === undefined || mine.flushAt > world.model.now) continue;
    mine.flushAt = undefined;
    flush(world.model, mine);
  }
  await expectOver(world);
}

/** After every step a turn is over exactly when the model says so. */
export async function expectOver(world: World): Promise<void> {
  await world.settle();
  for (const each of world.running) {
    assert.equal(each.over, each.attempt.over, `${nameOf(world, each)} is over`);
  }
  for (const each of world.running.filter(({ over }) => over)) world.running.splice(world.running.indexOf(each), 1);
}
