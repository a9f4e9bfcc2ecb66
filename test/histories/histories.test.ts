import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { told, verifyFile } from '../verify/verify-file.ts';
import { agentCommands } from './agent-commands.ts';
import { callerCommands } from './caller-commands.ts';
import { type Command, steps } from './command.ts';
import { expectTask } from './compare.ts';
import type { Model } from './model.ts';
import { timeCommands } from './time-commands.ts';
import { workerCommands } from './worker-commands.ts';
import { createWorld, type World } from './world.ts';

/*
 * Random histories over the real store, two processes on one file, against a model in memory. HISTORIES_STEPS: how many
 * steps at least (default 12,000). HISTORIES_SEED: where the random numbers begin; a failure names the one to repeat it with.
 */

const STEPS = Number(process.env.HISTORIES_STEPS ?? 12_000);
const SEED = Number(process.env.HISTORIES_SEED ?? 20_261_102);
const COMMANDS_PER_HISTORY = 250;
const HISTORIES_PER_BATCH = 10;
/** Shrinking lives through the histories again and again: what it has found by then is short enough. */
const LIMITS = { unbiased: true, interruptAfterTimeLimit: 120_000, markInterruptAsFailure: true } as const;

async function live(recovery: Model['recovery'], commands: Iterable<Command>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'connector-history-'));
  const world = await createWorld(folder, recovery);
  try {
    await fc.asyncModelRun(() => ({ model: world.model, real: world }), commands);
    await expectEnd(world);
  } catch (error) {
    throw new Error(tell(world, error), { cause: error });
  } finally {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Everybody sees everything as the model says, and the file holds what the service promises. */
async function expectEnd({ model, processes, path, clock }: World): Promise<void> {
  const [process] = processes;
  assert.ok(process);
  for (const task of model.tasks.values()) await expectTask(process, task);
  assert.deepEqual(told(await verifyFile(path, clock.now(), Number.POSITIVE_INFINITY)), [], 'the verifier');
}

function tell({ story, model }: World, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return `recovery ${model.recovery}\n${story.join('\n')}\n\n${reason}`;
}

describe('random histories', () => {
  it(`hold for ${STEPS} steps from seed ${SEED}`, async () => {
    assert.ok(STEPS > 0 && Number.isSafeInteger(SEED), 'HISTORIES_STEPS and HISTORIES_SEED are numbers');
    const property = fc.asyncProperty(
      fc.constantFrom<Model['recovery'][]>('rerun', 'rerun', 'review'),
      fc.commands([fc.oneof(...callerCommands, ...agentCommands, ...workerCommands, ...timeCommands)], {
        maxCommands: COMMANDS_PER_HISTORY,
        size: 'max',
      }),
      live,
    );
    for (let seed = SEED; steps.taken < STEPS; seed += 1) {
      await fc.assert(property, { seed, numRuns: HISTORIES_PER_BATCH, ...LIMITS });
    }
  });
});
