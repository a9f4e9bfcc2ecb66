import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Answer, Frame, SendOptions } from '../../core/operations/operations.ts';
import type { EdgeProfile, Incoming } from '../../core/ports/edge.ts';
import type { Caller } from '../../core/principal.ts';
import { isInterrupted, isTerminal, type Task } from '../../core/task.ts';
import type { Core } from './service.ts';
import { until } from './until.ts';

/** How the two edges behave, with their clocks. */
export const A2A: EdgeProfile = {
  name: 'a2a',
  contextPolicy: 'parallel',
  waitMs: 60_000,
  streamDeadlineMs: 3_600_000,
  messageAnswers: true,
  subscribeEnds: 'terminal',
  subscribeFinished: 'error',
  lastEventId: true,
};
export const ROVO: EdgeProfile = {
  name: 'rovo',
  contextPolicy: 'single-active-task',
  waitMs: 10_000,
  streamDeadlineMs: 890_000,
  messageAnswers: false,
  subscribeEnds: 'input-required',
  subscribeFinished: 'task',
  lastEventId: false,
};

export interface Sent extends Partial<SendOptions> {
  /** Default: a new one for each call; null: the message has none. */
  readonly messageId?: string | null;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly referenceTaskIds?: readonly string[];
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

export interface ClientOptions {
  readonly caller?: Caller;
  readonly profile?: EdgeProfile;
}

/** One caller at one edge. */
export interface Client {
  readonly caller: Caller;
  send(text: string, sent?: Sent): Promise<Task>;
  answer(text: string, sent?: Sent): Promise<Answer>;
  /** The task as it is at once. */
  start(text: string, sent?: Sent): Promise<Task>;
  stream(text: string, sent?: Sent): Promise<AsyncIterable<Frame>>;
  get(taskId: string, historyLength?: number): Promise<Task>;
  cancel(taskId: string): Promise<Task>;
  subscribe(
    taskId: string,
    options?: { readonly after?: number; readonly signal?: AbortSignal },
  ): Promise<AsyncIterable<Frame>>;
  /** Polls until the task is terminal or interrupted. */
  settled(taskId: string): Promise<Task>;
}

/** Of a client that stays. One each: listeners of many calls on one signal look like a leak to Node. */
const unending = (): AbortSignal => new AbortController().signal;

export function createClient(core: Core, { caller = core.caller('alice'), profile = A2A }: ClientOptions = {}): Client {
  const { operations } = core;

  function incomingOf(text: string, { messageId = randomUUID(), deadlineMs, ...sent }: Sent): Incoming {
    const { taskId, contextId, referenceTaskIds } = sent;
    return {
      caller,
      message: {
        messageId: messageId ?? randomUUID(),
        role: 'ROLE_USER',
        parts: [{ text }],
        ...(taskId === undefined ? {} : { taskId }),
        ...(contextId === undefined ? {} : { contextId }),
        ...(referenceTaskIds === undefined ? {} : { referenceTaskIds }),
      },
      ...(messageId === null ? {} : { key: messageId }),
      deadlineMs: deadlineMs ?? 600_000,
    };
  }

  const client: Client = {
    caller,
    answer: (text, sent = {}) => {
      const { returnImmediately = false, historyLength, signal = unending() } = sent;
      const options = { returnImmediately, ...(historyLength === undefined ? {} : { historyLength }) };
      return operations.sendMessage(profile, incomingOf(text, sent), options, signal);
    },
    send: async (text, sent) => {
      const answer = await client.answer(text, sent);
      assert.ok('task' in answer, 'the answer is a task');
      return answer.task;
    },
    start: (text, sent) => client.send(text, { ...sent, returnImmediately: true }),
    stream: (text, sent = {}) =>
      operations.sendStreamingMessage(profile, incomingOf(text, sent), sent.signal ?? unending()),
    get: (taskId, historyLength) => operations.getTask(caller, taskId, historyLength),
    cancel: (taskId) => operations.cancelTask(caller, taskId),
    subscribe: (taskId, { after, signal = unending() } = {}) =>
      operations.subscribeToTask(profile, caller, { taskId, ...(after === undefined ? {} : { after }) }, signal),
    settled: (taskId) =>
      until('the task is terminal or interrupted', async () => {
        const task = await client.get(taskId);
        const { state } = task.status;
        return isTerminal(state) || isInterrupted(state) ? task : undefined;
      }),
  };
  return client;
}

export async function collect(frames: AsyncIterable<Frame>): Promise<readonly Frame[]> {
  const collected: Frame[] = [];
  for await (const frame of frames) collected.push(frame);
  return collected;
}

export function statesOf(frames: readonly Frame[]): readonly string[] {
  return frames.flatMap(({ body }) => {
    if ('task' in body) return [`Task ${shortState(body.task.status.state)}`];
    if ('statusUpdate' in body) return [shortState(body.statusUpdate.status.state)];
    return ['message' in body ? 'Message' : 'artifact'];
  });
}

export function shortState(state: string): string {
  return state.replace('TASK_STATE_', '');
}

export function statusText(task: Task): string {
  return (task.status.message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('');
}

export function historyTexts(task: Task): readonly string[] {
  return (task.history ?? []).map((message) => message.parts.map((part) => ('text' in part ? part.text : '')).join(''));
}
