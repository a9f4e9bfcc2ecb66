import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { statusText } from '../../simulator/client/a2a.ts';
import { bothEdges, type Caller } from './callers.ts';
import { startWorld, type World } from './world.ts';

let world: World;
let callers: readonly Caller[];
before(async () => {
  world = await startWorld({ agent: 'rerun', settings: { AGENT_CONCURRENCY: '4' } });
  callers = await bothEdges(world);
});
after(() => world.close());

test('CancelTask: a running and a parked task answer CANCELED, and stay so [3.3.1-cancel]', async () => {
  for (const caller of callers) {
    const place = world.outside.place({ closed: true });
    const running = await caller.start([`call ${place.name}`, 'complete Too late.']);
    await place.reached();
    const parked = String((await caller.send(['ask Which one?'])).task?.id);
    for (const taskId of [running, parked]) {
      const canceled = await caller.client.cancel(taskId);
      assert.deepEqual([canceled.faults, canceled.task?.status.state], [[], 'TASK_STATE_CANCELED']);
    }
    place.open();
    for (const taskId of [running, parked]) {
      const { task } = await caller.client.get(taskId);
      assert.deepEqual([task?.status.state, statusText(task)], ['TASK_STATE_CANCELED', '']);
      const repeated = await caller.client.cancel(taskId);
      assert.deepEqual(repeated.task, task, 'canceling it again changes nothing');
    }
  }
});

test('CancelTask: ten at once all answer the one canceled task, and its stream has one end', async () => {
  for (const caller of callers) {
    const place = world.outside.place({ closed: true });
    const streaming = caller.stream([`call ${place.name}`, 'complete Too late.']);
    const { taskId } = await place.reached();
    const answers = await Promise.all(Array.from({ length: 10 }, () => caller.client.cancel(taskId)));
    assert.deepEqual(new Set(answers.map(({ task }) => JSON.stringify(task))).size, 1);
    assert.equal(answers[0]?.task?.status.state, 'TASK_STATE_CANCELED');
    const stream = await streaming;
    assert.deepEqual([stream.faults, stream.end], [[], 'agent']);
    const ends = stream.frames.filter(({ frame }) => frame.statusUpdate?.status.state === 'TASK_STATE_CANCELED');
    assert.equal(ends.length, 1);
    place.open();
  }
});

test('CancelTask: an agent that does not listen is canceled all the same, and what it writes later is refused', async () => {
  for (const caller of callers) {
    const place = world.outside.place({ closed: true });
    const taskId = await caller.start([`deaf ${place.name}`, 'artifact late plain 100', 'complete Too late.']);
    await place.reached();
    const canceled = await caller.client.cancel(taskId);
    assert.equal(canceled.task?.status.state, 'TASK_STATE_CANCELED');
    place.open();
    // Whatever the agent did by then, a task that is accepted now ends after it.
    const next = await caller.send(['complete Next.']);
    assert.equal(next.task?.status.state, 'TASK_STATE_COMPLETED');
    assert.deepEqual((await caller.client.get(taskId)).task, canceled.task);
  }
});

test('CancelTask: a queued task is never started', async () => {
  for (const caller of callers) {
    const [busy, never] = [world.outside.place({ closed: true }), world.outside.place()];
    const running = await Promise.all(Array.from({ length: 4 }, () => caller.start([`call ${busy.name}`, 'complete'])));
    await busy.reached(4);
    const queued = await caller.start([`call ${never.name}`, 'complete']);
    const canceled = await caller.client.cancel(queued);
    assert.equal(canceled.task?.status.state, 'TASK_STATE_CANCELED');
    busy.open();
    for (const taskId of running) await caller.ended(taskId);
    assert.equal((await caller.send(['complete'])).task?.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(never.calls.length, 0);
  }
});

test('CancelTask: a finished task answers -32002 and stays as it is, an unknown one -32001', async () => {
  for (const caller of callers) {
    for (const line of ['complete Done.', 'reject No.', 'throw something']) {
      const { task } = await caller.send([line]);
      const refused = await caller.client.cancel(String(task?.id));
      assert.deepEqual([refused.status, refused.error?.code], [200, -32002], line);
      assert.deepEqual((await caller.client.get(String(task?.id))).task, task);
    }
    assert.equal((await caller.client.cancel(randomUUID())).error?.code, -32001);
  }
});
