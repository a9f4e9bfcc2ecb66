import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { artifactText, statusText } from '../../simulator/client/a2a.ts';
import { chunksOf } from './agents/texts.ts';
import { type Caller, createCaller } from './callers.ts';
import { plainCall } from './plain-calls.ts';
import { script, startWorld, type World } from './world.ts';

let world: World;
let jira: Caller;
let alice: Caller;
before(async () => {
  world = await startWorld({ agent: 'rerun', settings: { AGENT_CONCURRENCY: '64' } });
  jira = createCaller(world.jira(), '/rovo/a2a');
  alice = createCaller(await world.a2a('alice'), '/a2a');
});
after(() => world.close());

test('a client that leaves after the first event: the task completes and GetTask shows the whole artifact', async () => {
  for (const caller of [jira, alice]) {
    const place = world.outside.place({ closed: true });
    const left = await caller.stream([`call ${place.name}`, 'chunks log 500 50', 'complete Done.'], {
      cutAfterFrames: 1,
    });
    assert.equal(left.end, 'cut');
    await place.reached();
    place.open();
    const done = await caller.reaches(String(left.task?.id), 'TASK_STATE_COMPLETED');
    assert.equal(artifactText(done), chunksOf(500, 50));
  }
});

test('an artifact and the end in one tick: the artifact is always first, on the stream and on the subscription', async () => {
  await Promise.all(
    Array.from({ length: 40 }, async () => {
      const place = world.outside.place({ closed: true });
      const stream = alice.stream([`call ${place.name}`, 'artifact a plain 10', 'complete Done.']);
      const { taskId } = await place.reached();
      const subscription = alice.subscribe(taskId, { onFrame: () => place.open() });
      for (const { faults, frames } of [await stream, await subscription]) {
        assert.deepEqual(faults, []);
        const [artifact, end] = frames.slice(-2);
        assert.equal(artifact?.frame.artifactUpdate?.artifact.artifactId, 'a');
        assert.equal(end?.frame.statusUpdate?.status.state, 'TASK_STATE_COMPLETED');
      }
    }),
  );
});

test('two readers of one task: the same events under the same numbers, and one that leaves does not disturb the other', async () => {
  const place = world.outside.place({ closed: true });
  const sender = alice.stream(['say Reading.', `call ${place.name}`, 'slowly log 12 20 40', 'complete Done.']);
  const { taskId } = await place.reached();
  const leaver = alice.subscribe(taskId, { cutAfterFrames: 3 });
  const reader = alice.subscribe(taskId, { onFrame: (frame) => frame.task && place.open() });
  const [sent, read, left] = [await sender, await reader, await leaver];
  assert.deepEqual([sent.faults, read.faults, left.end], [[], [], 'cut']);
  const numbered = (frames: typeof sent.frames) => new Map(frames.map(({ id, frame }) => [id, JSON.stringify(frame)]));
  const all = numbered(sent.frames);
  assert.deepEqual(
    [...all.keys()].map(Number),
    [...all.keys()].map((_, at) => at + 1),
  );
  const [snapshot, ...rest] = read.frames;
  assert.ok(snapshot?.frame.task);
  assert.ok(rest.length > 5);
  for (const [id, frame] of numbered(rest)) assert.equal(all.get(id), frame, `event ${id}`);
  assert.equal(rest.at(-1)?.id, sent.frames.at(-1)?.id);
});

test('Last-Event-ID: the next event is the first one, without a Task, and nothing is missing', async () => {
  const place = world.outside.place({ closed: true });
  const cut = await alice.stream(['slowly log 5 20 40', `call ${place.name}`, 'chunks more 20 20', 'complete Done.'], {
    cutAfterFrames: 4,
  });
  await place.reached();
  const last = Number(cut.frames.at(-1)?.id);
  const { frames } = await alice.subscribe(String(cut.task?.id), {
    headers: { 'last-event-id': String(last) },
    onFrame: () => place.open(),
  });
  assert.deepEqual(
    frames.map(({ id }) => Number(id)),
    frames.map((_, at) => last + 1 + at),
  );
  assert.ok(frames.every(({ frame }) => !frame.task));
  const text = [...cut.frames, ...frames].map(({ frame }) => frame.artifactUpdate?.artifact.parts[0]?.text ?? '');
  assert.equal(text.join(''), chunksOf(5, 20) + chunksOf(20, 20));
});

test('an agent that throws in the middle: FAILED with a fixed text, a clean end, the reason only in the log', async () => {
  for (const caller of [jira, alice]) {
    const stream = await caller.stream(['artifact a plain 10', 'throw inner-detail-4711']);
    assert.deepEqual([stream.faults, stream.end], [[], 'agent']);
    assert.equal(stream.task?.status.state, 'TASK_STATE_FAILED');
    assert.doesNotMatch(JSON.stringify(stream.frames), /inner-detail|Error:|at /);
    const { task } = await caller.client.get(String(stream.task?.id));
    assert.doesNotMatch(JSON.stringify(task?.status), /inner-detail/);
    assert.notEqual(statusText(task), '');
  }
  assert.match(world.service().output(), /inner-detail-4711/);
});

test('a plain answer: one Message and the end on /a2a, a completed task on /rovo/a2a', async () => {
  const answer = await alice.stream(['reply Hello, Alice.']);
  assert.deepEqual([answer.faults, answer.frames.length, answer.end], [[], 1, 'agent']);
  assert.deepEqual(answer.message?.parts, [{ text: 'Hello, Alice.' }]);
  const sent = await alice.send(['reply Hello again.']);
  assert.deepEqual(sent.message?.parts, [{ text: 'Hello again.' }]);
  const stored = await alice.client.get(String(sent.message?.taskId));
  assert.equal(stored.task?.status.state, 'TASK_STATE_COMPLETED');
  const rovo = await jira.stream(['reply Hello, Jira.']);
  assert.deepEqual([rovo.faults, rovo.message], [[], undefined]);
  assert.equal(rovo.task?.status.state, 'TASK_STATE_COMPLETED');
  assert.equal(statusText(rovo.task), 'Hello, Jira.');
});

test('an update before a reply: the stream begins with the Task and ends with it', async () => {
  const stream = await alice.stream(['say First this.', 'reply Then that.']);
  assert.deepEqual([stream.faults, stream.message], [[], undefined]);
  assert.ok(stream.frames[0]?.frame.task);
  assert.equal(statusText(stream.task), 'Then that.');
});

test('streaming off: both streaming calls answer -32004 as plain JSON', async () => {
  const service = await world.start({ A2A_STREAMING: 'off', DATABASE_URL: 'sqlite:./plain.db' });
  const token = `Bearer ${await world.issuer.token('alice')}`;
  for (const [method, params] of [
    ['SendStreamingMessage', script(['complete'])],
    ['SubscribeToTask', { id: 'none' }],
  ] as const) {
    const headers = { authorization: token, 'a2a-version': '1.0', accept: 'text/event-stream' };
    const answer = await plainCall(`${service.origin}/a2a`, { method, params, headers });
    assert.deepEqual([answer.status, answer.json?.error?.code], [200, -32004]);
    assert.match(String(answer.headers['content-type']), /^application\/json/);
  }
});

test('SubscribeToTask: the Task shows what happened since GetTask, later events follow, and the end is the end', async () => {
  for (const caller of [jira, alice]) {
    const [first, second] = [world.outside.place({ closed: true }), world.outside.place({ closed: true })];
    const taskId = await caller.start([
      `call ${first.name}`,
      'artifact early plain 40',
      'say Halfway.',
      `call ${second.name}`,
      'artifact late plain 40',
      'complete Done.',
    ]);
    await first.reached();
    const before = await caller.client.get(taskId);
    assert.equal(before.task?.artifacts, undefined);
    first.open();
    await second.reached();
    const stream = await caller.subscribe(taskId, { onFrame: (frame) => frame.task && second.open() });
    assert.deepEqual([stream.faults, stream.end], [[], 'agent']);
    const [snapshot, ...rest] = stream.frames;
    assert.deepEqual(
      snapshot?.frame.task?.artifacts?.map(({ artifactId }) => artifactId),
      ['early'],
    );
    assert.equal(statusText(snapshot?.frame.task), 'Halfway.');
    assert.ok(rest.every(({ frame }) => frame.artifactUpdate?.artifact.artifactId !== 'early'));
    assert.equal(stream.task?.status.state, 'TASK_STATE_COMPLETED');
  }
});

test('SubscribeToTask: a task that waits for its user is a snapshot and the end on /rovo/a2a, and goes on on /a2a', async () => {
  const asked = await jira.send(['ask Which one?']);
  const rovo = await jira.subscribe(String(asked.task?.id));
  assert.deepEqual([rovo.faults, rovo.end, rovo.frames.length], [[], 'agent', 1]);
  assert.equal(statusText(rovo.task), 'Which one?');
  const parked = await alice.send(['ask Which one?']);
  const taskId = String(parked.task?.id);
  const stream = alice.subscribe(taskId, {
    onFrame: (frame) => frame.task && void alice.send(['complete That one.'], { taskId }),
  });
  const { faults, states, end } = await stream;
  assert.deepEqual([faults, end], [[], 'agent']);
  assert.deepEqual(states, ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
});

test('SubscribeToTask: a finished task is one Task on /rovo/a2a and -32004 on /a2a, an unknown one -32001 as JSON', async () => {
  const rovo = await jira.send(['complete Done.']);
  const again = await jira.subscribe(String(rovo.task?.id));
  assert.deepEqual([again.faults, again.frames.length, statusText(again.task)], [[], 1, 'Done.']);
  const generic = await alice.send(['complete Done.']);
  const refused = await alice.subscribe(String(generic.task?.id));
  assert.deepEqual([refused.streamed, refused.status, refused.error?.code], [false, 200, -32004]);
  for (const caller of [jira, alice]) {
    const unknown = await caller.subscribe('00000000-0000-4000-8000-000000000000');
    assert.deepEqual([unknown.streamed, unknown.status, unknown.error?.code], [false, 200, -32001]);
  }
});

test('a stream that was cut and taken up again ends with its task', async () => {
  const place = world.outside.place({ closed: true });
  const cut = await jira.stream(['artifact a plain 10', `call ${place.name}`, 'complete Done.'], { cutAfterFrames: 2 });
  await place.reached();
  const resumed = jira.subscribe(String(cut.task?.id), { onFrame: () => place.open() });
  const { faults, task, end } = await resumed;
  assert.deepEqual([faults, end, task?.status.state], [[], 'agent', 'TASK_STATE_COMPLETED']);
});
