import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TURN_TEXTS } from '../../core/runtime/turn-texts.ts';
import { type Command, type Commands, command, pick, weighted } from './command.ts';
import { claim, claimable, fail, giveBack, heartbeat, LEASE_MS, notice } from './model-turns.ts';
import { expectOver, pass } from './running-turns.ts';
import type { Process, Running, World } from './world.ts';

/* What workers do: claim, send heartbeats, hear of changes, die and stop in order. */

async function runClaim(world: World, process: Process): Promise<string> {
  const { model } = world;
  const ready = claimable(model);
  const real = await world.claim(process);
  const told: string[] = [];
  for (const { task, turn } of ready) {
    const claimed = real.find(({ fence }) => fence.taskId === task.id && fence.ordinal === turn.ordinal);
    const expected = claim(model, task, turn, process.worker);
    const name = `turn ${turn.ordinal} of task ${task.number}`;
    assert.equal(claimed !== undefined, expected !== undefined, `${name} is claimed`);
    if (!claimed || !expected) {
      told.push(`${name} expires`);
      continue;
    }
    assert.equal(claimed.lost, expected.lost, `${name} was lost`);
    assert.equal(claimed.fence.attempt, turn.attempt, name);
    assert.deepEqual(
      claimed.pending.map(({ ordinal }) => ordinal),
      expected.pending,
      `${name}: messages that wait`,
    );
    if (model.recovery === 'review') {
      assert.ok(turn.runs <= 1 + turn.resumed, `${name} runs once`);
    }
    await world.start(process, claimed, expected.attempt);
    const started = world.running.at(-1);
    assert.equal(started?.puppet !== undefined, expected.starts, `the agent is started for ${name}`);
    if (!expected.starts) {
      const { review, exhausted } = TURN_TEXTS;
      fail(model, expected.attempt, model.recovery === 'review' ? review : exhausted, true);
    }
    told.push(
      `${name}, attempt ${turn.attempt}${expected.lost ? ', lost before' : ''}${expected.starts ? '' : ', given up'}`,
    );
  }
  assert.equal(real.length, told.filter((line) => !line.endsWith('expires')).length, 'nothing else is claimed');
  return `claims ${told.join('; ') || 'nothing'}`;
}

function ofWorker(
  name: string,
  run: (world: World, process: Process, own: readonly Running[]) => Promise<string>,
): fc.Arbitrary<Command> {
  return fc.nat(1).map((index) =>
    command(name, index, async (world) => {
      const process = pick(world.processes, index);
      assert.ok(process);
      const told = await run(
        world,
        process,
        world.running.filter((each) => each.process === process),
      );
      await expectOver(world);
      return `${process.worker} ${told}`;
    }),
  );
}

export const workerCommands: Commands = [
  weighted(14, ofWorker('claim', runClaim)),

  weighted(
    2,
    ofWorker('heartbeat', async ({ model }, process, own) => {
      const leases = await process.store.heartbeat(process.worker, LEASE_MS);
      for (const { turn, attempt: mine } of own) {
        const lease = leases.find(
          ({ fence }) =>
            fence.taskId === mine.taskId && fence.ordinal === mine.ordinal && fence.attempt === mine.attempt,
        );
        if (lease) turn.hear(lease.newest);
        else turn.stop('fenced');
        heartbeat(model, mine);
      }
      return 'sends its heartbeat';
    }),
  ),

  weighted(
    2,
    ofWorker('notice', async ({ model }, _process, own) => {
      for (const { turn, attempt: mine } of own) {
        turn.check();
        notice(model, mine);
      }
      return 'hears that something changed';
    }),
  ),

  weighted(
    1,
    ofWorker('crash', async (world, process) => {
      world.replace(process);
      return 'is killed';
    }),
  ),

  // What three of the others do, often enough that turns are lost more than once.
  weighted(
    3,
    ofWorker('takeover', async (world, process) => {
      world.replace(process);
      await pass(world, LEASE_MS + 1_000);
      const other = world.processes.find(({ name }) => name !== process.name);
      assert.ok(other);
      return `is killed, its leases run out, and ${other.worker} ${await runClaim(world, other)}`;
    }),
  ),

  weighted(
    1,
    ofWorker('shutdown', async (world, process, own) => {
      for (const { turn, attempt: mine } of own) {
        turn.stop('shutdown');
        await world.settle();
        if (world.model.recovery === 'rerun') giveBack(world.model, mine);
        else fail(world.model, mine, TURN_TEXTS.restart);
      }
      await expectOver(world);
      world.replace(process);
      return 'shuts down in order';
    }),
  ),
];
