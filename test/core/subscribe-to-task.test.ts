import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { isDomainError } from '../../core/errors.ts';
import { textOf } from '../../core/message.ts';
import type { Frame } from '../../core/operations/operations.ts';
import type { Agent } from '../../core/ports/agent.ts';
import { collect, createClient, ROVO, statesOf } from '../support/client.ts';
import { applyEvent, EMPTY_VIEW } from '../support/reader.ts';
import { createCore } from '../support/service.ts';
import { createGate, type Gate, until } from '../support/until.ts';

/** Asks first, then waits for the gate and completes. */
function twoTurns(gate: Gate): Agent['run'] {
  return async function* ({ task }) {
    if (task.history?.length === 1) yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'Which?' };
    await gate.opened;
    yield { artifact: { artifactId: 'a', parts: [{ text: 'x' }] } };
    yield { state: 'TASK_STATE_COMPLETED' };
  };
}

async function parkedTask(t: TestContext) {
  const gate = createGate();
  const core = await createCore(t, { agent: twoTurns(gate) });
  const [a2a, rovo] = [createClient(core), createClient(core, { profile: ROVO })];
  const { id: taskId } = await a2a.send('start');
  return { a2a, rovo, taskId, gate, core };
}

describe('SubscribeToTask', () => {
  it('of a running task: the Task as it is, then every later event, then the end [3.1.6-task-first, 3.1.6-ends]', async (t) => {
    for (const profile of ['a2a', 'rovo'] as const) {
      const site = await parkedTask(t);
      await site.a2a.start('this', { taskId: site.taskId });
      const frames = collect(await site[profile].subscribe(site.taskId));
      site.gate.open();
      const seen = await frames;
      assert.deepEqual(statesOf(seen), ['Task WORKING', 'artifact', 'COMPLETED']);
      const sequences = seen.map((frame) => frame.sequence ?? 0);
      assert.deepEqual(sequences, [sequences[0], (sequences[0] ?? 0) + 1, (sequences[0] ?? 0) + 2]);
    }
  });

  it('of a parked task on A2A: the Task, then it stays open over the next turn', async (t) => {
    const { a2a, taskId, gate } = await parkedTask(t);
    const frames = collect(await a2a.subscribe(taskId));
    await a2a.start('this', { taskId });
    gate.open();
    assert.deepEqual(statesOf(await frames), ['Task INPUT_REQUIRED', 'WORKING', 'artifact', 'COMPLETED']);
  });

  it('of a parked task on Rovo: the Task and the end', async (t) => {
    const { rovo, taskId } = await parkedTask(t);
    assert.deepEqual(statesOf(await collect(await rovo.subscribe(taskId))), ['Task INPUT_REQUIRED']);
  });

  it('of a finished task: an error on A2A, the Task and the end on Rovo [3.1.6-terminal]', async (t) => {
    const { a2a, rovo, taskId, gate } = await parkedTask(t);
    gate.open();
    await a2a.send('this', { taskId });
    await assert.rejects(a2a.subscribe(taskId), (error) => isDomainError(error, 'UNSUPPORTED_OPERATION'));
    await assert.rejects(a2a.subscribe(taskId, { after: 1 }), (error) => isDomainError(error, 'UNSUPPORTED_OPERATION'));
    const frames = await collect(await rovo.subscribe(taskId));
    assert.deepEqual(statesOf(frames), ['Task COMPLETED']);
    assert.equal(textOf(applyEvent(EMPTY_VIEW, frames[0]?.body ?? assert.fail()).artifacts[0]?.parts ?? []), 'x');
    const resumed = await collect(await rovo.subscribe(taskId, { after: frames[0]?.sequence ?? 0 }));
    assert.deepEqual(resumed, frames, 'a reader that has everything is not kept waiting');
    const rest = await collect(await rovo.subscribe(taskId, { after: (frames[0]?.sequence ?? 0) - 1 }));
    assert.deepEqual(statesOf(rest), ['COMPLETED']);
  });

  it('of an unknown task is refused', async (t) => {
    const { a2a } = await parkedTask(t);
    await assert.rejects(a2a.subscribe('nobody'), (error) => isDomainError(error, 'TASK_NOT_FOUND'));
  });

  it('with the last event’s id: the next event, without a Task', async (t) => {
    const { a2a, core, taskId, gate } = await parkedTask(t);
    await a2a.start('this', { taskId });
    const all = await core.store.events(a2a.caller.owner, taskId, 0, 100);
    const frames = collect(await a2a.subscribe(taskId, { after: 1 }));
    gate.open();
    const seen = await frames;
    assert.deepEqual(
      seen.map((frame) => frame.sequence),
      Array.from({ length: seen.length }, (_, index) => index + 2),
    );
    assert.deepEqual(
      seen.slice(0, all.length - 1),
      all.slice(1).map(({ sequence, body }) => ({ sequence, body })),
    );
    assert.equal(statesOf(seen).at(-1), 'COMPLETED');
  });

  it('with an id that this task has not come to: the Task first', async (t) => {
    const { a2a, taskId, gate } = await parkedTask(t);
    const frames = collect(await a2a.subscribe(taskId, { after: 99 }));
    await a2a.start('this', { taskId });
    gate.open();
    assert.deepEqual(statesOf(await frames), ['Task INPUT_REQUIRED', 'WORKING', 'artifact', 'COMPLETED']);
  });

  it('two readers: one leaves, the other sees the same as before', async (t) => {
    const { a2a, taskId, gate } = await parkedTask(t);
    await a2a.start('this', { taskId });
    const leaving = new AbortController();
    const [left, stays] = [
      collect(await a2a.subscribe(taskId, { signal: leaving.signal })),
      collect(await a2a.subscribe(taskId)),
    ];
    leaving.abort();
    assert.deepEqual(statesOf(await left), ['Task WORKING']);
    gate.open();
    assert.deepEqual(statesOf(await stays), ['Task WORKING', 'artifact', 'COMPLETED']);
  });

  it('ends when the task is erased under it', async (t) => {
    const { a2a, core, taskId } = await parkedTask(t);
    const frames = collect(await a2a.subscribe(taskId));
    await core.tenants.remove('test');
    await core.tenants.erase('test', 10);
    assert.deepEqual(statesOf(await frames), ['Task INPUT_REQUIRED']);
  });

  it('on another process: every later event through the last', async (t) => {
    const { core, taskId, a2a, gate } = await parkedTask(t);
    const other = await createCore(t, { path: core.path, idle: true, agent: async function* () {} });
    await a2a.start('this', { taskId });
    const frames = collect(await createClient(other).subscribe(taskId));
    gate.open();
    assert.deepEqual(statesOf(await frames), ['Task WORKING', 'artifact', 'COMPLETED']);
  });

  it('at any moment of a stream of 500 chunks: no gap, nothing twice, and the same text in the end', async (t) => {
    const chunks = Array.from({ length: 500 }, (_, index) => `${index}\u2028😀 `);
    const core = await createCore(t, {
      agent: async function* () {
        for (const [index, text] of chunks.entries()) {
          yield { artifact: { artifactId: 'a', parts: [{ text }] }, append: index > 0 };
          if (index % 7 === 0) yield { state: 'TASK_STATE_WORKING', message: `at ${index}` };
          if (index % 50 === 0) yield { artifact: { artifactId: `b${index}`, parts: [{ text: 'x'.repeat(40_000) }] } };
          if (index % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core, { profile: ROVO });
    const { id } = await client.start('start');
    const readers: Promise<readonly Frame[]>[] = [];
    while ((await client.get(id)).status.state !== 'TASK_STATE_COMPLETED') {
      if (readers.length < 40) readers.push(client.subscribe(id).then(collect));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
    }
    const task = await client.get(id);
    assert.equal(textOf(task.artifacts?.[0]?.parts ?? []), chunks.join(''));
    await until('several readers came', () => readers.length > 3);
    for (const frames of await Promise.all(readers)) {
      const sequences = frames.flatMap((frame) => (frame.sequence === undefined ? [] : [frame.sequence]));
      assert.deepEqual(
        sequences,
        sequences.map((_, index) => (sequences[0] ?? 0) + index),
        'without a gap',
      );
      const seen = frames.reduce((view, frame) => applyEvent(view, frame.body), EMPTY_VIEW);
      const texts = (artifacts: typeof seen.artifacts) =>
        artifacts.map((artifact) => [artifact.artifactId, textOf(artifact.parts)]);
      assert.deepEqual(texts(seen.artifacts), texts(task.artifacts ?? []));
      assert.equal(seen.status?.state, 'TASK_STATE_COMPLETED');
    }
  });
});
