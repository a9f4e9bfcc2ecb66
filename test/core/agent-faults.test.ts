import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { LIMITS } from '../../core/limits.ts';
import { textOf } from '../../core/message.ts';
import type { Agent, Update } from '../../core/ports/agent.ts';
import type { LogFields } from '../../core/ports/telemetry.ts';
import { TURN_TEXTS } from '../../core/runtime/turn-texts.ts';
import { collect, createClient, statesOf, statusText } from '../support/client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createCore } from '../support/service.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { never, until } from '../support/until.ts';

const SECRET = 'sk-live-secret';

/** An agent written in JavaScript, whose author did not read the types. */
function untyped(run: (turn: unknown) => unknown): Agent['run'] {
  return run as Agent['run'];
}

describe('an agent that', () => {
  const faulty: readonly (readonly [string, Agent['run']])[] = [
    [
      'throws',
      async function* () {
        yield { state: 'TASK_STATE_WORKING', message: 'on it' };
        throw new Error(SECRET);
      },
    ],
    [
      'throws something that is no Error',
      // biome-ignore lint/correctness/useYield: it never comes so far
      async function* () {
        throw SECRET;
      },
    ],
    [
      'throws what nobody can look at',
      untyped(() => {
        throw new Proxy(Object.create(null), { get: () => assert.fail(SECRET) });
      }),
    ],
    ['throws before it iterates', untyped(() => assert.fail(SECRET))],
    ['answers nothing iterable', untyped(() => ({ text: SECRET }))],
    ['answers undefined', untyped(() => undefined)],
    ['answers a promise of updates', untyped(async () => [{ state: 'TASK_STATE_COMPLETED' }])],
    [
      'answers a plain generator',
      untyped(function* () {
        yield { state: 'TASK_STATE_COMPLETED' };
      }),
    ],
    [
      'iterates by hand and throws at once',
      untyped(() => ({
        [Symbol.asyncIterator]: () => ({
          next: () => {
            throw new Error(SECRET);
          },
        }),
      })),
    ],
    [
      'iterates by hand and answers no promise',
      untyped(() => ({ [Symbol.asyncIterator]: () => ({ next: () => SECRET }) })),
    ],
    [
      'yields garbage',
      async function* () {
        yield { text: SECRET } as unknown as Update;
      },
    ],
    [
      'yields an unknown state',
      async function* () {
        yield { state: SECRET } as unknown as Update;
      },
    ],
    [
      'fails in a step',
      async function* ({ step }) {
        await step('effect', () => Promise.reject(new Error(SECRET)));
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    ],
  ];
  for (const [name, run] of faulty) {
    it(`${name} fails its task with fixed words; the reason is in the log`, async (t) => {
      const logged: { readonly name: string; readonly error: unknown }[] = [];
      const event = (_level: string, logName: string, _fields?: LogFields, error?: unknown) => {
        logged.push({ name: logName, error });
      };
      const core = await createCore(t, { agent: run, telemetry: { ...silentTelemetry, event } });
      const client = createClient(core);
      const frames = await collect(await client.stream('hi', { messageId: 'm1' }));
      assert.equal(statesOf(frames).at(-1), 'FAILED', 'the stream ends cleanly');
      const task = await client.send('hi', { messageId: 'm1' });
      assert.match(statusText(task), /failed unexpectedly/);
      assert.ok(!JSON.stringify([frames, task]).includes(SECRET));
      await until('the slot is free', () => core.runner.running === 0);
      const failed = logged.filter((entry) => entry.name === 'turn.failed');
      assert.equal(failed.length, 1);
      assert.ok(failed[0]?.error !== undefined);
      assert.deepEqual(await core.store.backlog(), { waiting: 0, leased: 0, oldestMs: 0 });
    });
  }

  for (const [what, run] of [
    ['a promise of an object', async () => ({ state: 'TASK_STATE_COMPLETED' })],
    ['a promise that is broken later', () => Promise.reject(new Error('later'))],
    ['an object', () => ({ state: 'TASK_STATE_COMPLETED' })],
    ['nothing', () => undefined],
  ] as const) {
    it(`answers ${what} is told in the log what run has to be`, async (t) => {
      const said: string[] = [];
      const event = (_level: string, name: string, _fields?: LogFields, error?: unknown) => {
        if (name === 'turn.failed') said.push(String(error));
      };
      const core = await createCore(t, { agent: untyped(run), telemetry: { ...silentTelemetry, event } });
      assert.equal((await createClient(core).send('hi')).status.state, 'TASK_STATE_FAILED');
      assert.equal(said.length, 1);
      assert.match(said.join(), /run has to be an async generator \(async \*run\)/);
    });
  }

  it('ends without an answer fails its task', async (t) => {
    const core = await createCore(t, {
      agent: async function* () {
        yield { artifact: { artifactId: 'a', parts: [{ text: 'part of it' }] } };
      },
    });
    const task = await createClient(core).send('hi');
    assert.equal(task.status.state, 'TASK_STATE_FAILED');
    assert.match(statusText(task), /without an answer/);
    assert.equal(textOf(task.artifacts?.[0]?.parts ?? []), 'part of it', 'what it wrote stays');
  });

  it('throws after its end changes nothing', async (t) => {
    const core = await createCore(t, {
      agent: async function* () {
        try {
          yield { state: 'TASK_STATE_COMPLETED', message: 'Done.' };
        } finally {
          await Promise.reject(new Error('in the cleaning'));
        }
      },
    });
    const task = await createClient(core).send('hi');
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
    await until('the slot is free', () => core.runner.running === 0);
    assert.equal((await createClient(core).get(task.id)).status.state, 'TASK_STATE_COMPLETED');
  });

  it('cannot even be let go without throwing changes nothing, and its slot is free', async (t) => {
    const logged: string[] = [];
    const core = await createCore(t, {
      telemetry: { ...silentTelemetry, event: (_level, name) => logged.push(name) },
      agent: untyped(() => ({
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ value: { state: 'TASK_STATE_COMPLETED' } }),
          return: () => assert.fail('no'),
        }),
      })),
    });
    const task = await createClient(core).send('hi');
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
    await until('the slot is free', () => core.runner.running === 0);
    assert.ok(logged.includes('agent.return_failed'));
    assert.ok(!logged.some((name) => /abandoned|fenced|left_over/.test(name)));
  });

  it('yields after its end is not asked again', async (t) => {
    let late = false;
    const core = await createCore(t, {
      agent: async function* () {
        yield { state: 'TASK_STATE_COMPLETED', message: 'Done.' };
        late = true;
        yield { state: 'TASK_STATE_FAILED' };
      },
    });
    const task = await createClient(core).send('hi');
    await until('the slot is free', () => core.runner.running === 0);
    assert.equal(statusText(await createClient(core).get(task.id)), 'Done.');
    assert.equal(late, false);
  });

  it('hangs keeps its text visible: what it wrote is committed while it thinks', async (t) => {
    const core = await createCore(t, {
      agent: async function* () {
        yield { artifact: { artifactId: 'a', parts: [{ text: 'one' }] } };
        yield { artifact: { artifactId: 'a', parts: [{ text: ' two' }] }, append: true };
        await never();
      },
    });
    const client = createClient(core);
    const { id } = await client.start('hi');
    const task = await until('the text is there', async () => {
      const now = await client.get(id);
      return now.artifacts?.length ? now : undefined;
    });
    assert.deepEqual(task.artifacts, [{ artifactId: 'a', parts: [{ text: 'one two' }] }]);
    await client.cancel(id);
  });

  it('writes again after a commit that outlasted the flush timer is flushed again', async (t) => {
    const clock = createManualClock();
    const core = await createCore(t, {
      clock,
      agent: async function* () {
        yield { artifact: { artifactId: 'a', parts: [{ text: 'one' }] } };
        // The timer of the first text fires while the status is being committed.
        setImmediate(() => clock.advance(30));
        yield { state: 'TASK_STATE_WORKING', message: 'between' };
        yield { artifact: { artifactId: 'a', parts: [{ text: ' two' }] }, append: true };
        await never();
      },
    });
    const client = createClient(core);
    const { id } = await client.start('hi');
    await until('the status is there', async () => statusText(await client.get(id)) === 'between');
    await until('the second text is there', async () => {
      clock.advance(30);
      return textOf((await client.get(id)).artifacts?.[0]?.parts ?? []) === 'one two';
    });
  });

  it('has no capabilities because they could not be made fails its task', async (t) => {
    const core = await createCore(t, {
      capabilities: () => Promise.reject(new Error(SECRET)),
      agent: async function* () {
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const task = await createClient(core).send('hi');
    assert.equal(task.status.state, 'TASK_STATE_FAILED');
    assert.ok(!JSON.stringify(task).includes(SECRET));
  });
});

describe('an agent that reports for ever', () => {
  for (const [what, update] of [
    ['WORKING', { state: 'TASK_STATE_WORKING' }],
    ['chunks', { artifact: { artifactId: 'a', parts: [{ text: 'more' }] }, append: true }],
  ] as const satisfies readonly (readonly [string, Update])[]) {
    it(`fails its task when it has as many events as it may have: ${what}`, async (t) => {
      let left = 0;
      const core = await createCore(t, {
        agent: async function* () {
          try {
            for (;;) yield update;
          } finally {
            left += 1;
          }
        },
        idle: true,
      });
      const client = createClient(core);
      const { id } = await client.start('go');
      const db = new BetterSqlite3(core.path);
      // As if it had reported all day.
      db.prepare('update task set sequence = ? where id = ?').run(LIMITS.eventsMax - 10, id);
      db.close();
      core.runner.start();
      const task = await client.settled(id);
      assert.equal(task.status.state, 'TASK_STATE_FAILED');
      assert.equal(statusText(task), TURN_TEXTS.events);
      const record = await core.store.record(client.caller.owner, id);
      assert.equal(record?.sequence, LIMITS.eventsMax + 1);
      await until('the agent was left', () => left === 1);
    });
  }
});
