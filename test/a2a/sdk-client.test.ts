import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  AgentCard,
  GetTaskRequest,
  ListTasksRequest,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskState,
} from '@a2a-js/sdk';
import { type Client, ClientFactory } from '@a2a-js/sdk/client';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import { createAgentCard } from '../../adapters/a2a/agent-card.ts';
import { taskNotFound } from '../../core/errors.ts';
import { send } from './rpc.ts';
import {
  framesOf,
  type ScriptedOperations,
  scriptedOperations,
  statusFrame,
  taskIn,
  textFrame,
} from './scripted-operations.ts';
import { edgeOf, serve } from './serve.ts';

/** The independent client, set up by nothing but our card. */
async function connect(t: TestContext, operations: ScriptedOperations): Promise<Client> {
  const served = await serve(t, { operations, edge: edgeOf({ versions: ['1.0'] }) });
  const card = createAgentCard({
    name: 'a',
    description: 'b',
    version: '1',
    publicUrl: served.origin,
    path: '/a2a',
    versions: ['1.0'],
    streaming: true,
    pushNotifications: false,
    extendedCard: false,
    extensions: [],
    auth: 'anonymous',
    skills: [{ id: 's', name: 's', description: 's', tags: ['s'] }],
    inputModes: ['text/plain'],
    outputModes: ['text/plain'],
  });
  return new ClientFactory().createFromAgentCard(AgentCard.fromJSON(card));
}

test('SDK client: it sends, reads and lists', async (t) => {
  const operations = scriptedOperations({
    listTasks: async () => ({ tasks: [taskIn('TASK_STATE_WORKING')], totalSize: 1, pageSize: 1, nextPageToken: 'n' }),
  });
  const client = await connect(t, operations);
  const sent = await client.sendMessage(SendMessageRequest.fromJSON(send()));
  assert.ok('status' in sent);
  assert.equal(sent.status?.state, TaskState.TASK_STATE_COMPLETED);
  assert.equal((await client.getTask(GetTaskRequest.fromJSON({ id: 't1' }))).id, 't1');
  const listed = await client.listTasks(ListTasksRequest.fromJSON({}));
  assert.deepEqual([listed.tasks.length, listed.totalSize, listed.nextPageToken], [1, 1, 'n']);
});

test('SDK client: it reads a stream and a subscription to their end', async (t) => {
  const frames = [
    { sequence: 1, body: { task: taskIn('TASK_STATE_SUBMITTED') } },
    textFrame(2, 'a\u2028b'),
    statusFrame(3, 'TASK_STATE_COMPLETED'),
  ];
  const operations = scriptedOperations({
    sendStreamingMessage: async () => framesOf(...frames),
    subscribeToTask: async () => framesOf(...frames),
  });
  const client = await connect(t, operations);
  for (const stream of [
    client.sendMessageStream(SendMessageRequest.fromJSON(send())),
    client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id: 't1' })),
  ]) {
    const cases: unknown[] = [];
    for await (const { payload } of stream) {
      cases.push(payload?.$case);
      if (payload?.$case === 'artifactUpdate') {
        assert.equal(payload.value.artifact?.parts[0]?.content?.value, 'a\u2028b');
      }
    }
    assert.deepEqual(cases, ['task', 'artifactUpdate', 'statusUpdate']);
  }
});

test('SDK client: it knows our errors by their class', async (t) => {
  const client = await connect(t, scriptedOperations({ getTask: () => Promise.reject(taskNotFound()) }));
  await assert.rejects(client.getTask(GetTaskRequest.fromJSON({ id: 'nope' })), (error) => {
    return error instanceof TaskNotFoundError && error.message.includes('Task not found');
  });
});
