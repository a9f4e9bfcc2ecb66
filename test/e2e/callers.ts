import { isTerminal, type Task } from '../../simulator/client/a2a.ts';
import type { RpcAnswer } from '../../simulator/client/calls.ts';
import type { JiraClient } from '../../simulator/client/jira-client.ts';
import type { StreamOptions, StreamResult } from '../../simulator/client/streams.ts';
import { until } from '../support/until.ts';
import { type MessageChanges, script, type World } from './world.ts';

/** One person at one edge, speaking in scripts. */
export interface Caller {
  readonly edge: '/rovo/a2a' | '/a2a';
  readonly client: JiraClient;
  send(lines: readonly string[], changes?: MessageChanges): Promise<RpcAnswer>;
  stream(lines: readonly string[], changes?: MessageChanges & StreamOptions): Promise<StreamResult>;
  /** SubscribeToTask. */
  subscribe(taskId: string, options?: StreamOptions): Promise<StreamResult>;
  /** The id of a task that was accepted and not waited for. */
  start(lines: readonly string[], changes?: MessageChanges): Promise<string>;
  /** The task as soon as it is in that state. */
  reaches(taskId: string, state: string): Promise<Task>;
  /** The task as soon as it has ended. */
  ended(taskId: string): Promise<Task>;
}

/** A call that is not judged by its time may take so long; one that hangs fails its test and not the patience of everybody. */
const LIMIT_MS = 20_000;

export function createCaller(client: JiraClient, edge: Caller['edge']): Caller {
  const seen = async (taskId: string): Promise<Task> => {
    const { task, text } = await client.get(taskId, { limitMs: LIMIT_MS });
    if (!task) throw new Error(`no task: ${text}`);
    return task;
  };
  const caller: Caller = {
    edge,
    client,
    send: (lines, changes) => client.rpc('SendMessage', script(lines, changes)),
    stream(lines, changes = {}) {
      const { messageId, contextId, taskId, returnImmediately, historyLength, ...options } = changes;
      const params = script(lines, JSON.parse(JSON.stringify({ messageId, contextId, taskId })) as MessageChanges);
      return client.streamRpc('SendStreamingMessage', params, { limitMs: LIMIT_MS, ...options });
    },
    subscribe: (taskId, options) => client.subscribe(taskId, { limitMs: LIMIT_MS, ...options }),
    async start(lines, changes) {
      const params = script(lines, { returnImmediately: true, ...changes });
      const { task, text } = await client.rpc('SendMessage', params, { limitMs: LIMIT_MS });
      if (!task) throw new Error(`no task: ${text}`);
      return task.id;
    },
    reaches: (taskId, state) =>
      until(`the task is ${state}`, async () => {
        const task = await seen(taskId);
        if (isTerminal(task.status.state) && task.status.state !== state) {
          throw new Error(`${task.status.state} instead of ${state}`);
        }
        return task.status.state === state && task;
      }),
    ended: (taskId) =>
      until('the task has ended', async () => {
        const task = await seen(taskId);
        return isTerminal(task.status.state) && task;
      }),
  };
  return caller;
}

/** Alice of Jira and alice of the identity provider. */
export async function bothEdges(world: World): Promise<readonly Caller[]> {
  return [createCaller(world.jira(), '/rovo/a2a'), createCaller(await world.a2a('alice'), '/a2a')];
}
