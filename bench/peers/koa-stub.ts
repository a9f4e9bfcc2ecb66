import { createServer } from 'node:http';
import { StreamResponse, Task } from '@a2a-js/sdk';
import {
  type A2ARequestHandler,
  JsonRpcTransportHandler,
  ServerCallContext,
  UnauthenticatedUser,
} from '@a2a-js/sdk/server';
import Koa from 'koa';
import { listen } from './listen.ts';
import { card } from './sdk-echo.ts';

/* What Koa and the SDK's JSON-RPC transport handler cost when nothing is behind them. */

const TASK = Task.fromJSON({
  id: '0190a5c4-7b1e-7c3d-8f2a-1b2c3d4e5f60',
  contextId: '0190a5c4-7b1e-7c3d-8f2a-1b2c3d4e5f61',
  status: { state: 'TASK_STATE_COMPLETED', timestamp: '2026-01-01T00:00:00.000Z' },
});
const refuse = (): never => {
  throw new Error('not part of the stub');
};
const handler: A2ARequestHandler = {
  getAgentCard: async () => card,
  getAuthenticatedExtendedAgentCard: async () => card,
  sendMessage: async () => TASK,
  sendMessageStream: async function* () {
    yield StreamResponse.fromJSON({ task: Task.toJSON(TASK) });
  },
  getTask: async () => TASK,
  listTasks: async () => refuse(),
  cancelTask: async () => TASK,
  createTaskPushNotificationConfig: async () => refuse(),
  getTaskPushNotificationConfig: async () => refuse(),
  listTaskPushNotificationConfigs: async () => refuse(),
  deleteTaskPushNotificationConfig: async () => refuse(),
  resubscribe: async function* () {},
};
const transport = new JsonRpcTransportHandler(handler);
const app = new Koa();
app.use(async (context) => {
  const chunks: Buffer[] = [];
  for await (const chunk of context.req) chunks.push(chunk as Buffer);
  const call = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  context.body = await transport.handle(
    call,
    new ServerCallContext({ user: new UnauthenticatedUser(), requestedVersion: '1.0' }),
  );
});
listen(createServer(app.callback()));
