import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Frame } from '../../core/operations/operations.ts';
import type { Written } from '../../core/ports/wakeups.ts';
import { become, finish } from '../store/scenario.ts';
import { createClient, ROVO } from '../support/client.ts';
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
    return { events: [sequence, ...more].map((each) => ({ sequence: each, body, at: 0 })), reply: false };
  };
  const cost = async (act: () => Promise<unknown>): Promise<number> => {
    const before = core.stats().statements;
    await act();
    return core.stats().statements - before;
  };
  return { core, frames, topic, report, end, committed, told, cost };
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
    core.wakeups.listen(`task:${id}`, { wake: (written) => written && heard.push(written) });
    const before = await core.store.events(client.caller.owner, id, 0, 100);
    gate.open();
    await client.settled(id);
    const events = await core.store.events(client.caller.owner, id, 0, 100);
    const known = new Set(before.map(({ sequence }) => sequence));
    const told = heard.flatMap((each) => each.events).filter(({ sequence }) => !known.has(sequence));
    assert.deepEqual(told, events.slice(before.length));
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
      core.wakeups.listen(`task:${id}`, { wake: (written) => written && heard.push(written.reply) });
      gate.open();
      await until('it was told', () => heard.length > 0 && client.settled(id));
      assert.equal(heard.at(-1), reply);
    }
  });

  it('is one for what several writes of a group did to a task', async (t) => {
    const { core, topic, report, committed } = await streamed(t);
    const heard: (Written | undefined)[] = [];
    core.wakeups.listen(topic, { wake: (written) => heard.push(written) });
    await Promise.all([report(), report(), report()]);
    assert.deepEqual(heard, [{ events: (await committed()).slice(1), reply: false }]);
  });
});
