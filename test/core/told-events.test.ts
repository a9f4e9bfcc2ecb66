import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { StoredEvent } from '../../core/event.ts';
import type { Frame } from '../../core/operations/operations.ts';
import type { Written } from '../../core/ports/wakeups.ts';
import { become, finish } from '../store/scenario.ts';
import { createClient, ROVO, statesOf } from '../support/client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createCore } from '../support/service.ts';
import { createGate, until } from '../support/until.ts';

/*
 * A notice brings what its commit wrote, so that a stream need not read it. It stays a hint: whatever it brings or leaves
 * out, a stream shows each committed event once, in order, and nothing else.
 */

/** A task that nobody runs, with a stream that has shown it. Time stands still, so nothing polls. */
async function streamed(t: TestContext) {
  const core = await createCore(t, { agent: async function* () {}, idle: true, clock: createManualClock() });
  const client = createClient(core, { profile: ROVO });
  const frames = (await client.stream('hello'))[Symbol.asyncIterator]();
  const first: IteratorResult<Frame> = await frames.next();
  assert(!first.done && 'task' in first.value.body);
  const { task } = first.value.body;
  const topic = `task:${task.id}`;
  const report = () => core.store.update({ taskId: task.id }, (view) => become(view, 'TASK_STATE_WORKING'));
  const end = () => core.store.update({ taskId: task.id }, finish);
  const committed = () => core.store.events(client.caller.owner, task.id, 0, 100);
  /** What a commit of that event would tell. */
  const told = (sequence: number, ...more: readonly number[]): Written => {
    const body = { statusUpdate: { taskId: task.id, contextId: task.contextId, status: task.status } };
    const events = [sequence, ...more].map((each) => ({ sequence: each, body, at: 0 }));
    return { first: sequence, last: more.at(-1) ?? sequence, events, reply: false };
  };
  const cost = async (act: () => Promise<unknown>): Promise<number> => {
    const before = core.stats().statements;
    await act();
    return core.stats().statements - before;
  };
  return { core, frames, topic, report, end, committed, told, cost };
}

/** All that is left of a stream. */
async function rest(frames: AsyncIterator<Frame>): Promise<readonly Frame[]> {
  const seen: Frame[] = [];
  for (let step = await frames.next(); !step.done; step = await frames.next()) seen.push(step.value);
  return seen;
}

const CLAIM = { agent: 'agent', worker: 'w', leaseMs: 30_000, limit: 10 };

const sequencesOf = (frames: readonly Frame[]) => frames.map(({ sequence }) => sequence);

/** Without what the store has noted on them for itself. */
function asStored(events: readonly StoredEvent[]): readonly StoredEvent[] {
  return events.map(({ sequence, body, at }) => ({ sequence, body, at }));
}

describe('a notice of a commit', () => {
  it('brings what a turn committed, as the store has it', async (t) => {
    const gate = createGate();
    const core = await createCore(t, {
      agent: async function* () {
        await gate.opened;
        yield { state: 'TASK_STATE_WORKING', message: 'so far' };
        yield { artifact: { artifactId: 'a', parts: [{ text: 'x' }] }, lastChunk: true };
        yield { state: 'TASK_STATE_COMPLETED', message: 'done' };
      },
    });
    const client = createClient(core);
    const { id } = await client.start('hello');
    const heard: Written[] = [];
    core.wakeups.listen(`task:${id}`, { wake: (_named, written) => written && heard.push(written) });
    const before = await core.store.events(client.caller.owner, id, 0, 100);
    gate.open();
    await client.settled(id);
    const events = await core.store.events(client.caller.owner, id, 0, 100);
    const known = new Set(before.map(({ sequence }) => sequence));
    const told = heard.flatMap((each) => each.events).filter(({ sequence }) => !known.has(sequence));
    assert.deepEqual(asStored(told), events.slice(before.length));
    assert(told.length >= 3);
  });

  it('says whether a bare Message completed the task', async (t) => {
    for (const reply of [true, false]) {
      const gate = createGate();
      const core = await createCore(t, {
        agent: async function* () {
          await gate.opened;
          yield reply ? { reply: 'hi' } : { state: 'TASK_STATE_COMPLETED', message: 'hi' };
        },
      });
      const client = createClient(core);
      const { id } = await client.start('hello');
      const heard: boolean[] = [];
      core.wakeups.listen(`task:${id}`, { wake: (_named, written) => written && heard.push(written.reply) });
      gate.open();
      await until('it was told', () => heard.length > 0 && client.settled(id));
      assert.equal(heard.at(-1), reply);
    }
  });

  it('is one for what several writes of a group did to a task', async (t) => {
    const { core, topic, report, committed } = await streamed(t);
    const heard: Written[] = [];
    core.wakeups.listen(topic, { wake: (_named, written) => written && heard.push(written) });
    await Promise.all([report(), report(), report()]);
    const told = heard.map((written) => ({ ...written, events: asStored(written.events) }));
    assert.deepEqual(told, [{ first: 2, last: 4, events: (await committed()).slice(1), reply: false }]);
  });
});

describe('a stream', () => {
  it('reads nothing of what it is told while it waits', async (t) => {
    const { frames, report, end, cost } = await streamed(t);
    const unheard = await streamed(t);
    await unheard.frames.return?.();
    for (const act of ['report', 'report', 'end'] as const) {
      const alone = await unheard.cost(unheard[act]);
      const waiting = frames.next();
      const heard = await cost(async () => {
        await { report, end }[act]();
        await waiting;
      });
      assert.equal(heard, alone);
    }
    assert.deepEqual(await frames.next(), { done: true, value: undefined });
  });

  it('that is told something with a gap before it reads what is there', async (t) => {
    const { core, frames, topic, report, end, committed, told } = await streamed(t);
    const seen = rest(frames);
    core.wakeups.notify(topic, told(3));
    await report();
    core.wakeups.notify(topic, told(5, 6));
    await report();
    await end();
    assert.deepEqual(
      await seen,
      (await committed()).slice(1).map(({ sequence, body }) => ({ sequence, body })),
    );
  });

  it('that is told again what it has shows nothing twice', async (t) => {
    const { core, frames, topic, report, end, told } = await streamed(t);
    const seen = rest(frames);
    await report();
    core.wakeups.notify(topic, told(1));
    core.wakeups.notify(topic, told(1, 2));
    await report();
    await end();
    assert.deepEqual(sequencesOf(await seen), [2, 3, 4]);
  });

  it('that is told some of it again takes the rest', async (t) => {
    const { core, frames, topic, report, committed, told } = await streamed(t);
    await report();
    assert.equal((await frames.next()).value?.sequence, 2);
    const next = frames.next();
    await report();
    await next;
    const waiting = frames.next();
    core.wakeups.notify(topic, { ...told(4), first: 1, events: [...(await committed()), ...told(4).events] });
    assert.equal((await waiting).value?.sequence, 4);
  });

  it('that is not asked keeps nothing and reads it later', async (t) => {
    const { core, frames, topic, report, end, told } = await streamed(t);
    await report();
    // What nobody committed would come out of what was kept.
    core.wakeups.notify(topic, told(3, 4, 5));
    await report();
    await end();
    const seen = await rest(frames);
    assert.deepEqual(sequencesOf(seen), [2, 3, 4]);
    assert.deepEqual(statesOf(seen), ['WORKING', 'WORKING', 'COMPLETED']);
  });

  it('of a task that was accepted and begun in one commit shows both at once', async (t) => {
    const core = await createCore(t, { agent: async function* () {}, idle: true, clock: createManualClock() });
    const client = createClient(core, { profile: ROVO });
    await client.start('another, so that its owner is known');
    await core.store.claim(CLAIM, () => undefined);
    const before = core.stats();
    const opened = client.stream('hello');
    // The message waits for the end of this turn of the event loop; the claim comes into its group.
    for (let hop = 0; hop < 1_000; hop += 1) await undefined;
    const claimed = core.store.claim(CLAIM, (view) => become(view, 'TASK_STATE_WORKING'));
    const frames = (await opened)[Symbol.asyncIterator]();
    const seen: Frame[] = [];
    for (const step of [await frames.next(), await frames.next()]) if (!step.done) seen.push(step.value);
    assert.deepEqual(statesOf(seen), ['Task SUBMITTED', 'WORKING']);
    assert.equal((await claimed).claimed.length, 1);
    const after = core.stats();
    assert.equal(after.commits - before.commits, 1);
    const waiting = frames.next();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(core.stats().statements, after.statements);
    await frames.return?.();
    assert.equal((await waiting).done, true);
  });
});
