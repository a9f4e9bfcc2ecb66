import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { artifactText, statusText } from '../../simulator/client/a2a.ts';
import { chunksOf } from './agents/texts.ts';
import { type Caller, createCaller } from './callers.ts';
import { startWorld, type World } from './world.ts';

/*
 * Jira's clocks, 300 times as fast: 900 s are 3 s for its client. Where it would give up after 55 s it does so after a
 * second here, because the scheduling of two processes does not scale.
 */
const TIME_SCALE = 300;

let world: World;
let jira: Caller;
let alice: Caller;
before(async () => {
  world = await startWorld({
    agent: 'rerun',
    timeScale: TIME_SCALE,
    settings: {
      ROVO_WAIT_MS: '300',
      ROVO_SYNC_DEADLINE_MS: '600',
      ROVO_STREAM_DEADLINE_MS: '2500',
      ROVO_CHAT_DEADLINE_MS: '5000',
      A2A_WAIT_MS: '400',
      A2A_STREAM_DEADLINE_MS: '2500',
      A2A_TASK_DEADLINE_MS: '5000',
      PARKED_MAX_MS: '1500',
      AGENT_CONCURRENCY: '8',
    },
  });
  jira = createCaller(world.jira(), '/rovo/a2a');
  alice = createCaller(await world.a2a('alice'), '/a2a');
});
after(() => world.close());

test('SendMessage for a job of more than 55 s answers WORKING before its wait ends, and GetTask later COMPLETED', async () => {
  for (const caller of [jira, alice]) {
    const place = world.outside.place({ closed: true });
    const sent = await caller.send(['say Reading.', `call ${place.name}`, 'complete Done.']);
    assert.deepEqual([sent.timedOut, sent.task?.status.state], [false, 'TASK_STATE_WORKING'], caller.edge);
    assert.ok(sent.elapsedMs < 1_000, `${sent.elapsedMs} ms`);
    assert.equal(statusText(sent.task), 'Reading.', 'people see how far it is');
    place.open();
    assert.equal((await caller.ended(String(sent.task?.id))).status.state, 'TASK_STATE_COMPLETED');
  }
});

test('a job of 1,000 s over the stream: we end it cleanly before 900 s, the task goes on, and it is resumed', async () => {
  const play = async (caller: Caller) => {
    const place = world.outside.place({ closed: true });
    const lines = ['slowly log 3 20 40', `call ${place.name}`, 'chunks more 100 20', 'complete Done.'];
    const first = await caller.stream(lines, { limitMs: 3_000 });
    assert.deepEqual([first.faults, first.end], [[], 'agent'], `${caller.edge}: ended by us, not by Jira’s limit`);
    assert.ok(first.elapsedMs > 2_000 && first.elapsedMs < 3_000, `${first.elapsedMs} ms`);
    assert.equal(first.task?.status.state, 'TASK_STATE_WORKING');
    const taskId = String(first.task?.id);
    assert.equal((await caller.client.get(taskId)).task?.status.state, 'TASK_STATE_WORKING', 'polling sees it at work');
    const second = await caller.subscribe(taskId, { onFrame: () => place.open() });
    assert.deepEqual([second.faults, second.end], [[], 'agent']);
    assert.equal(second.task?.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(artifactText(second.task), chunksOf(3, 20) + chunksOf(100, 20));
  };
  await Promise.all([play(jira), play(alice)]);
});

test('an agent that asks at once: HTTP 200 and the Task with the question in under a second, sent and streamed [3.2.2-blocking]', async () => {
  for (const caller of [jira, alice]) {
    const sent = await caller.send(['ask Which one?']);
    assert.deepEqual([sent.status, sent.faults], [200, []]);
    assert.deepEqual([sent.task?.status.state, statusText(sent.task)], ['TASK_STATE_INPUT_REQUIRED', 'Which one?']);
    assert.ok(sent.elapsedMs < 1_000, `${sent.elapsedMs} ms`);
    const stream = await caller.stream(['ask Which one?']);
    assert.deepEqual([stream.faults, stream.end], [[], 'agent']);
    assert.ok(stream.frames[0]?.frame.task, 'the Task is first');
    assert.equal(stream.states[0], 'TASK_STATE_SUBMITTED');
    assert.equal(stream.states.at(-1), 'TASK_STATE_INPUT_REQUIRED');
  }
});

test('no task is WORKING for ever: an agent that returns without a word, and one that hangs, end FAILED with a reason', async () => {
  const play = async (caller: Caller) => {
    const hanging = await caller.start(['hang']);
    const silent = await caller.send(['say Reading.']);
    assert.equal(silent.task?.status.state, 'TASK_STATE_FAILED');
    assert.match(statusText(silent.task), /without an answer/);
    const over = await caller.ended(hanging);
    assert.equal(over.status.state, 'TASK_STATE_FAILED');
    assert.match(statusText(over), /took longer than it may/);
  };
  await Promise.all([play(jira), play(alice)]);
});

test('a question that nobody answers is closed after its time, with a word on why', async () => {
  const asked = await jira.send(['ask Which one?']);
  const over = await jira.ended(String(asked.task?.id));
  assert.equal(over.status.state, 'TASK_STATE_FAILED');
  assert.match(statusText(over), /Nobody answered/);
});

test('returnImmediately with 200 busy jobs: answered in under a second at the 99th percentile', async () => {
  const place = world.outside.place({ closed: true });
  const lines = [`call ${place.name}`, 'complete Done.'];
  const busy = await Promise.all(Array.from({ length: 200 }, () => alice.start(lines)));
  assert.equal(new Set(busy).size, 200);
  const times: number[] = [];
  for (let round = 0; round < 30; round += 1) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => alice.send(lines, { returnImmediately: true })));
    for (const { task, elapsedMs } of answers) {
      assert.equal(task?.status.state, 'TASK_STATE_SUBMITTED', 'nobody waited for the agent to begin');
      times.push(elapsedMs);
    }
  }
  times.sort((a, b) => a - b);
  const slowest = times[Math.floor(times.length * 0.99)] ?? Number.NaN;
  assert.ok(slowest < 1_000, `${slowest} ms`);
  assert.ok(place.calls.length <= 8, 'the others wait for a slot');
});
