import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { StoredEvent } from '../../../core/event.ts';
import { stateOf } from '../../../core/operations/follow.ts';
import type { Frame } from '../../../core/operations/operations.ts';
import type { Turn, Update } from '../../../core/ports/agent.ts';
import { isTerminal, type Task } from '../../../core/task.ts';
import { type Client, collect, createClient } from '../../support/client.ts';
import { applyEvent, EMPTY_VIEW } from '../../support/reader.ts';
import { type Core, type CoreOptions, createCore } from '../../support/service.ts';
import { createGate, type Gate, until } from '../../support/until.ts';
import { told, verifyFile } from '../../verify/verify-file.ts';

/*
 * Races over the real store: two cores on one file, as two processes have it, and two parties that want something of one
 * task at the same moment. Whoever wins, there is one outcome, and everybody who looks sees that one.
 */

/** How often each race is run. RACES in the environment, for those who want more. */
export const RACES = Number(process.env.RACES ?? 1_000);

/** A race that hangs fails by itself. */
export const TIMEOUT_MS = 120_000 + RACES * 100;

/** How many are under way at the same time: enough that commits are grouped and the machine is busy. */
const AT_ONCE = 50;

/** Runs that many races and counts their outcomes. Fails when one of the expected ones never came: that was no race. */
export async function race(
  t: TestContext,
  outcomes: readonly string[],
  run: (round: number) => Promise<string>,
): Promise<void> {
  const tally = new Map(outcomes.map((outcome) => [outcome, 0]));
  for (let round = 0; round < RACES; round += AT_ONCE) {
    const wave = Array.from({ length: Math.min(AT_ONCE, RACES - round) }, (_, index) => run(round + index));
    for (const outcome of await Promise.all(wave)) tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
  }
  const counts = JSON.stringify(Object.fromEntries(tally));
  t.diagnostic(counts);
  assert.deepEqual([...tally.keys()].sort(), [...outcomes].sort(), counts);
  if (RACES >= 1_000)
    assert.ok(
      [...tally.values()].every((count) => count > 0),
      `no race: ${counts}`,
    );
}

/** Lets up to `most` turns of the event loop pass, a random number of them. */
export async function jitter(most = 4): Promise<void> {
  for (let turns = Math.floor(Math.random() * (most + 1)); turns > 0; turns -= 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export function oneOf<T>(...items: readonly [T, ...T[]]): T {
  return items[Math.floor(Math.random() * items.length)] ?? items[0];
}

/** An agent whose turns wait for a test, by the text of their message. */
export interface GatedAgent {
  run(turn: Turn): AsyncIterable<Update>;
  gate(text: string): Gate;
  /** Turns that were started for a message with this text. */
  runs(text: string): number;
}

/** `play` goes on when the gate of its message is open; a message without one does not wait. */
export function createGatedAgent(play: (turn: Turn, text: string) => AsyncIterable<Update>): GatedAgent {
  const gates = new Map<string, Gate>();
  const runs = new Map<string, number>();
  return {
    async *run(turn) {
      const text = textOf(turn.message);
      runs.set(text, (runs.get(text) ?? 0) + 1);
      await gates.get(text)?.opened;
      yield* play(turn, text);
    },
    gate(text) {
      const gate = createGate();
      gates.set(text, gate);
      return gate;
    },
    runs: (text) => runs.get(text) ?? 0,
  };
}

export function textOf({ parts }: { readonly parts: readonly object[] }): string {
  return parts.map((part) => ('text' in part ? String(part.text) : '')).join('');
}

export interface Arena {
  /** The process whose runner runs the agent. */
  readonly here: Client;
  /** Another process on the same file, that runs nothing. */
  readonly there: Client;
  readonly core: Core;
  /** Everybody who looks at the task from before the race: call it, race, then ask what they have seen. */
  watch(taskId: string, sent: { readonly text: string; readonly messageId: string }): Promise<Observers>;
  events(taskId: string): Promise<readonly StoredEvent[]>;
  /** No turn is left behind, and the verifier has nothing to say. */
  expectClean(): Promise<void>;
}

export interface Observers {
  /**
   * Waits until the task has ended for everybody, asserts that all of them have seen the same end exactly once, and
   * answers the task.
   */
  agree(): Promise<Task>;
}

export async function createArena(t: TestContext, options: CoreOptions): Promise<Arena> {
  const core = await createCore(t, { concurrency: 4 * AT_ONCE, ...options });
  const other = await createCore(t, { ...options, path: core.path, idle: true });
  const [here, there] = [createClient(core), createClient(other)];
  const { owner } = here.caller;

  const events = (taskId: string) => core.store.events(owner, taskId, 0, 10_000);

  return {
    ...{ here, there, core, events },
    async watch(taskId, { text, messageId }) {
      const streams = await Promise.all([here, there].map((client) => client.subscribe(taskId)));
      const reading = streams.map(collect);
      const waiting = [here, there].map((client) => client.send(text, { messageId }));
      for (const each of [...reading, ...waiting]) each.catch(() => undefined);
      return {
        async agree() {
          const frames = await Promise.all(reading);
          const answers = await Promise.all(waiting);
          const task = await here.get(taskId);
          assert.ok(isTerminal(task.status.state), task.status.state);
          for (const same of [await there.get(taskId), ...answers]) assert.deepEqual(same, task);
          for (const seen of frames) expectStream(seen, task);
          expectEvents(await events(taskId), task);
          return task;
        },
      };
    },
    async expectClean() {
      await until('every slot is free', () => core.runner.running === 0);
      assert.deepEqual(told(await verifyFile(core.path, core.clock.now())), []);
    },
  };
}

/** Numbered without a gap, one end, and it is the last. */
function expectEvents(events: readonly StoredEvent[], task: Task): void {
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    events.map((_, index) => index + 1),
  );
  const ends = events.filter((event) => isTerminal(stateOf(event.body) ?? 'TASK_STATE_WORKING'));
  assert.equal(ends.length, 1, 'exactly one end');
  assert.equal(ends[0], events.at(-1), 'nothing after it');
  assert.equal(stateOf((ends[0] as StoredEvent).body), task.status.state);
}

/** What a stream showed is the task, and no event is missing in it. */
export function expectStream(frames: readonly Frame[], task: Task): void {
  const numbers = frames.flatMap(({ sequence }) => sequence ?? []);
  const [first = 0] = numbers;
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => first + index),
    'a gap in the stream',
  );
  const view = frames.reduce((seen, { body }) => applyEvent(seen, body), EMPTY_VIEW);
  assert.deepEqual(view.status, task.status);
  assert.equal(view.artifacts.map(textOf).join(), (task.artifacts ?? []).map(textOf).join());
}
