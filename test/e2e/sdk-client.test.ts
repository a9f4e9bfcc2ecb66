import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  Role,
  SendMessageRequest,
  type StreamResponse,
  SubscribeToTaskRequest,
  TaskState,
} from '@a2a-js/sdk';
import { type Client, ClientFactory } from '@a2a-js/sdk/client';
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { chunksOf } from './agents/texts.ts';
import { script, startWorld, type World } from './world.ts';

/*
 * A client that we did not write, set up by nothing but the address of the service.
 */
let world: World;
let client: Client;
before(async () => {
  world = await startWorld({ agent: 'rerun', settings: { A2A_AUTH: 'anonymous' } });
  client = await new ClientFactory().createFromUrl(world.service().origin);
});
after(() => world.close());

const message = (...lines: readonly string[]) => SendMessageRequest.fromJSON(script(lines));

/** The text of an artifact as the frames put it together, and the states that they passed through. */
async function read(frames: AsyncIterable<StreamResponse>) {
  let text = '';
  let taskId = '';
  const states: TaskState[] = [];
  for await (const { payload } of frames) {
    if (payload?.$case === 'task') taskId = payload.value.id;
    if (payload?.$case === 'statusUpdate' && payload.value.status) states.push(payload.value.status.state);
    if (payload?.$case !== 'artifactUpdate') continue;
    for (const { content } of payload.value.artifact?.parts ?? []) {
      if (content?.$case === 'text') text += content.value;
    }
  }
  return { text, taskId, states };
}

test('SDK client: finds the service by its card, sends, reads and lists', async () => {
  const sent = await client.sendMessage(message('artifact a plain 100', 'complete Done.'));
  assert.ok('status' in sent);
  assert.equal(sent.status?.state, TaskState.TASK_STATE_COMPLETED);
  const got = await client.getTask(GetTaskRequest.fromJSON({ id: sent.id }));
  assert.deepEqual([got.id, got.artifacts.length], [sent.id, 1]);
  assert.equal(got.history[0]?.role, Role.ROLE_USER);
  const listed = await client.listTasks(ListTasksRequest.fromJSON({ contextId: sent.contextId }));
  assert.deepEqual([listed.tasks.map(({ id }) => id), listed.totalSize], [[sent.id], 1]);
});

test('SDK client: streams a task, leaves, and subscribes to the rest', async () => {
  const place = world.outside.place({ closed: true });
  const whole = read(client.sendMessageStream(message(`call ${place.name}`, 'chunks log 50 20', 'complete Done.')));
  const { taskId } = await place.reached();
  const frames = client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id: taskId }));
  const first = await frames.next();
  assert.equal((first.value as StreamResponse).payload?.$case, 'task');
  place.open();
  const [sent, subscribed] = [await whole, await read(frames)];
  assert.deepEqual([sent.taskId, sent.text], [taskId, chunksOf(50, 20)]);
  assert.equal(subscribed.text, chunksOf(50, 20));
  assert.equal(subscribed.states.at(-1), TaskState.TASK_STATE_COMPLETED);
});

test('SDK client: a follow-up answers the question, a message answer is a message', async () => {
  const asked = await client.sendMessage(message('ask Which one?'));
  assert.ok('status' in asked);
  assert.equal(asked.status?.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  const answered = await client.sendMessage(
    SendMessageRequest.fromJSON(script(['complete That one.'], { taskId: asked.id })),
  );
  assert.ok('status' in answered);
  assert.deepEqual([answered.id, answered.status?.state], [asked.id, TaskState.TASK_STATE_COMPLETED]);
  const said = await client.sendMessage(message('reply Hello.'));
  assert.ok('messageId' in said);
  assert.deepEqual(said.parts[0]?.content, { $case: 'text', value: 'Hello.' });
});

test('SDK client: our errors are its own [3.3.2-errors]', async () => {
  const done = await client.sendMessage(message('complete Done.'));
  assert.ok('status' in done);
  await assert.rejects(client.getTask(GetTaskRequest.fromJSON({ id: randomUUID() })), TaskNotFoundError);
  await assert.rejects(client.cancelTask(CancelTaskRequest.fromJSON({ id: done.id })), TaskNotCancelableError);
  await assert.rejects(
    client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id: done.id })).next(),
    UnsupportedOperationError,
  );
});
