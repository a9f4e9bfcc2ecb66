import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DomainError, isDomainError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { textOf } from '../../core/message.ts';
import type { Agent, Turn, Update } from '../../core/ports/agent.ts';
import { collect, createClient, historyTexts, statusText } from '../support/client.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { applyEvent, EMPTY_VIEW } from '../support/reader.ts';
import { type Core, createCore } from '../support/service.ts';
import { advanceUntil, createGate, never, until } from '../support/until.ts';

const LEASE_MS = 3_000;

type Run = (turn: Turn, attempt: number) => AsyncIterable<Update>;

interface Crash {
  readonly core: Core;
  readonly clock: ManualClock;
  readonly taskId: string;
  /** How often the agent was started. */
  readonly attempts: () => number;
}

/**
 * Starts a task, waits until its first attempt has come to `reached`, lets that worker die and brings another one. The
 * agent learns which attempt it is.
 */
async function crash(
  t: Parameters<typeof createCore>[0],
  {
    run,
    recovery,
    reached,
  }: { readonly run: Run; readonly recovery?: Agent['recovery']; readonly reached: Promise<void> },
  before?: (core: Core, taskId: string) => Promise<unknown>,
): Promise<Crash> {
  let attempts = 0;
  const agent: Agent = {
    ...(recovery ? { recovery } : {}),
    run: (turn) => {
      attempts += 1;
      return run(turn, attempts);
    },
  };
  const clock = createManualClock();
  const core = await createCore(t, { clock, agent, leaseMs: LEASE_MS });
  const { id: taskId } = await createClient(core).start('start');
  await until('the agent was started', () => attempts === 1);
  await before?.(core, taskId);
  await reached;
  core.worker.freeze();
  core.addWorker({ agent, leaseMs: LEASE_MS });
  return { core, clock, taskId, attempts: () => attempts };
}

function settled({ core, clock, taskId }: Crash) {
  const client = createClient(core);
  return advanceUntil(clock, 'the task has ended', async () => {
    const task = await client.get(taskId);
    return /COMPLETED|FAILED|REQUIRED/.test(task.status.state) && task;
  });
}

describe('a lost lease, recovery review', () => {
  it('FAILED, needs review: the agent is not started again and what it wrote stays', async (t) => {
    const reached = createGate();
    const crashed = await crash(t, {
      reached: reached.opened,
      run: async function* () {
        yield { artifact: { artifactId: 'a', parts: [{ text: 'half' }] }, lastChunk: true };
        reached.open();
        await never();
      },
    });
    const task = await settled(crashed);
    assert.equal(task.status.state, 'TASK_STATE_FAILED');
    assert.match(statusText(task), /needs review/);
    assert.equal(textOf(task.artifacts?.[0]?.parts ?? []), 'half');
    assert.equal(crashed.attempts(), 1);
    const repeat = createClient(crashed.core);
    await assert.rejects(repeat.send('more', { taskId: task.id }), (error) =>
      isDomainError(error, 'UNSUPPORTED_OPERATION'),
    );
  });

  it('is what happens to an agent that does not say, while its process lives on: its late writes are refused', async (t) => {
    const [reached, awake] = [createGate(), createGate()];
    const refused: unknown[] = [];
    const crashed = await crash(t, {
      reached: reached.opened,
      run: async function* ({ step }) {
        yield { state: 'TASK_STATE_WORKING', message: 'on it' };
        reached.open();
        await awake.opened;
        await step('effect', async () => 1).catch((error: unknown) => refused.push(error));
        yield { state: 'TASK_STATE_COMPLETED', message: 'too late' };
      },
    });
    const task = await settled(crashed);
    assert.equal(task.status.state, 'TASK_STATE_FAILED');
    crashed.core.worker.thaw();
    awake.open();
    await until('the step was refused', () => refused.length === 1);
    assert.ok(isDomainError(refused[0], 'LEASE_LOST'));
    assert.deepEqual(await createClient(crashed.core).get(task.id), task);
  });
});

describe('a lost lease, recovery rerun', () => {
  it('a step that results in nothing is stored as null, one that is no JSON fails before it is stored', async (t) => {
    const results: unknown[] = [];
    const core = await createCore(t, {
      agent: async function* ({ step }) {
        results.push(await step('nothing', (async () => undefined) as unknown as () => Promise<null>));
        const odd = (async () => 1n) as unknown as () => Promise<number>;
        results.push(await step('odd', odd).catch((error: unknown) => String(error)));
        results.push(await step('', async () => 1).catch((error: unknown) => String(error)));
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    await createClient(core).send('go');
    assert.equal(results[0], null);
    assert.match(String(results[1]), /TypeError: .* a step result/);
    assert.match(String(results[2]), /TypeError: A step needs a key/);
  });

  it('finished steps answer their result, one that was cut off runs again with the same idempotency key', async (t) => {
    const reached = createGate();
    const effects: string[] = [];
    const crashed = await crash(t, {
      recovery: 'rerun',
      reached: reached.opened,
      run: async function* ({ step }, attempt) {
        const first = await step('first', async (key) => {
          effects.push(`first ${key}`);
          return { made: attempt };
        });
        const second = await step('second', async (key) => {
          effects.push(`second ${key}`);
          if (attempt > 1) return attempt;
          reached.open();
          return never();
        });
        yield { state: 'TASK_STATE_COMPLETED', message: JSON.stringify([first, second]) };
      },
    });
    const task = await settled(crashed);
    assert.equal(statusText(task), '[{"made":1},2]');
    assert.equal(effects.length, 3);
    assert.equal(effects[1], effects[2]);
    assert.notEqual(effects[0]?.split(' ')[1], effects[1]?.split(' ')[1]);
  });

  for (const append of [true, false]) {
    it(`an artifact is replaced, not doubled, when chunks say append: ${append}`, async (t) => {
      const reached = createGate();
      const crashed = await crash(t, {
        recovery: 'rerun',
        reached: reached.opened,
        run: async function* (_turn, attempt) {
          yield { artifact: { artifactId: 'a', parts: [{ text: `one ${attempt}` }] }, append, lastChunk: true };
          yield { artifact: { artifactId: 'a', parts: [{ text: ', two' }] }, append: true, lastChunk: true };
          if (attempt === 1) {
            reached.open();
            await never();
          }
          yield { state: 'TASK_STATE_COMPLETED' };
        },
      });
      const stream = collect(await createClient(crashed.core).subscribe(crashed.taskId));
      const task = await settled(crashed);
      assert.equal(textOf(task.artifacts?.[0]?.parts ?? []), 'one 2, two');
      const seen = (await stream).reduce((view, frame) => applyEvent(view, frame.body), EMPTY_VIEW);
      assert.deepEqual(
        seen.artifacts.map((artifact) => textOf(artifact.parts)),
        ['one 2, two'],
      );
    });
  }

  it('an artifact that only the lost attempt wrote leaves, and readers are told', async (t) => {
    const reached = createGate();
    const crashed = await crash(t, {
      recovery: 'rerun',
      reached: reached.opened,
      run: async function* (_turn, attempt) {
        yield { artifact: { artifactId: `draft-${attempt}`, parts: [{ text: 'x' }] }, lastChunk: true };
        if (attempt === 1) {
          reached.open();
          await never();
        }
        yield { state: 'TASK_STATE_COMPLETED', message: 'Done.' };
      },
    });
    const stream = collect(await createClient(crashed.core).subscribe(crashed.taskId));
    const task = await settled(crashed);
    assert.deepEqual(
      task.artifacts?.map((artifact) => artifact.artifactId),
      ['draft-2'],
    );
    const frames = await stream;
    const seen = frames.reduce((view, frame) => applyEvent(view, frame.body), EMPTY_VIEW);
    assert.deepEqual(
      seen.artifacts.map((artifact) => artifact.artifactId),
      ['draft-2'],
    );
    const last = frames.at(-1)?.body;
    assert.ok(last && 'statusUpdate' in last, 'the end comes last');
  });

  it('what an earlier turn wrote stays in front of what the rerun writes', async (t) => {
    const clock = createManualClock();
    const reached = createGate();
    let runs = 0;
    const agent: Agent = {
      recovery: 'rerun',
      run: async function* ({ message }) {
        runs += 1;
        const text = textOf(message.parts);
        yield { artifact: { artifactId: 'log', parts: [{ text: `${text}${runs} ` }] }, append: true, lastChunk: true };
        if (runs === 2) {
          reached.open();
          await never();
        }
        yield { state: runs === 1 ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_COMPLETED' };
      },
    };
    const core = await createCore(t, { clock, agent, leaseMs: LEASE_MS });
    const client = createClient(core);
    const { id: taskId } = await client.start('a');
    await client.settled(taskId);
    await client.start('b', { taskId });
    await reached.opened;
    assert.equal(textOf((await client.get(taskId)).artifacts?.[0]?.parts ?? []), 'a1 b2 ');
    const stream = collect(await client.subscribe(taskId));
    core.worker.freeze();
    core.addWorker({ agent, leaseMs: LEASE_MS });
    await advanceUntil(
      clock,
      'the end',
      async () => (await client.get(taskId)).status.state === 'TASK_STATE_COMPLETED',
    );
    assert.equal(textOf((await client.get(taskId)).artifacts?.[0]?.parts ?? []), 'a1 b3 ');
    const seen = (await stream).reduce((view, frame) => applyEvent(view, frame.body), EMPTY_VIEW);
    assert.equal(textOf(seen.artifacts[0]?.parts ?? []), 'a1 b3 ');
  });

  it('the inbox of the lost attempt comes again', async (t) => {
    const reached = createGate();
    const taken: string[] = [];
    const crashed = await crash(
      t,
      {
        recovery: 'rerun',
        reached: reached.opened,
        run: async function* ({ inbox }, attempt) {
          const message = await until('a message', () => inbox()[0]);
          taken.push(textOf(message.parts));
          yield { state: 'TASK_STATE_WORKING', message: 'noted' };
          if (attempt === 1) {
            reached.open();
            await never();
          }
          yield { state: 'TASK_STATE_COMPLETED', message: `With ${taken.at(-1)}` };
        },
      },
      (core, taskId) => createClient(core).start('this too', { taskId }),
    );
    const task = await settled(crashed);
    assert.equal(statusText(task), 'With this too');
    assert.deepEqual(taken, ['this too', 'this too']);
    assert.deepEqual(historyTexts(task), ['start', 'this too']);
    assert.equal(crashed.attempts(), 2, 'no turn of its own for it');
  });

  it('a message that the lost attempt took and the rerun does not is answered by the next turn', async (t) => {
    const reached = createGate();
    const crashed = await crash(
      t,
      {
        recovery: 'rerun',
        reached: reached.opened,
        run: async function* ({ inbox, message }, attempt) {
          if (attempt === 1) {
            await until('a message', () => inbox()[0]);
            yield { state: 'TASK_STATE_WORKING', message: 'noted' };
            reached.open();
            await never();
          }
          yield { state: 'TASK_STATE_COMPLETED', message: `Answer to ${textOf(message.parts)}` };
        },
      },
      (core, taskId) => createClient(core).start('this too', { taskId }),
    );
    const task = await settled(crashed);
    assert.equal(statusText(task), 'Answer to this too');
    assert.deepEqual(historyTexts(task), ['start', 'this too', 'Answer to start']);
    assert.equal(crashed.attempts(), 3);
  });

  it('an agent that takes its process down again and again is given up', async (t) => {
    const clock = createManualClock();
    let attempts = 0;
    const agent: Agent = {
      recovery: 'rerun',
      // biome-ignore lint/correctness/useYield: it never comes so far
      run: async function* () {
        attempts += 1;
        await never();
      },
    };
    const core = await createCore(t, { clock, agent, leaseMs: LEASE_MS });
    const client = createClient(core);
    const { id } = await client.start('start');
    let worker = core.worker;
    for (let round = 1; round <= LIMITS.maxAttempts; round += 1) {
      await advanceUntil(clock, `attempt ${round}`, () => attempts === round);
      worker.freeze();
      worker = core.addWorker({ agent, leaseMs: LEASE_MS });
    }
    await advanceUntil(clock, 'the end', async () => (await client.get(id)).status.state === 'TASK_STATE_FAILED');
    assert.match(statusText(await client.get(id)), /interrupted 5 times/);
    assert.equal(attempts, LIMITS.maxAttempts);
  });
});

describe('a store that was away for longer than a lease', () => {
  for (const recovery of ['rerun', 'review'] as const) {
    it(`${recovery}: the turn does not stay behind under a lease that its own process extends`, async (t) => {
      const clock = createManualClock();
      let [runs, away] = [0, false];
      const agent: Agent = {
        recovery,
        run: async function* ({ message }) {
          if (textOf(message.parts) === 'other') await never();
          runs += 1;
          away = runs === 1;
          yield { state: 'TASK_STATE_COMPLETED', message: `run ${runs}` };
        },
      };
      const core = await createCore(t, { clock, agent, leaseMs: LEASE_MS });
      const { update } = core.store;
      const unavailable = () => new DomainError('STORE_UNAVAILABLE', 'away', { retryAfterMs: 200 });
      Object.assign(core.store, {
        update: (...args: Parameters<typeof update>) => (away ? Promise.reject(unavailable()) : update(...args)),
      });
      const client = createClient(core);
      await client.start('other');
      const { id } = await client.start('start');
      await until('it ran', () => runs === 1);
      await advanceUntil(clock, 'the turn was abandoned', () => clock.now() > createManualClock().now() + 3 * LEASE_MS);
      away = false;
      const task = await advanceUntil(clock, 'the end', async () => {
        const now = await client.get(id);
        return /COMPLETED|FAILED/.test(now.status.state) && now;
      });
      assert.match(statusText(task), recovery === 'rerun' ? /run 2/ : /needs review/);
    });
  }
});
