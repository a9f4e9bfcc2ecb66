import { taskNotFound } from '../../core/errors.ts';
import type { EventBody } from '../../core/event.ts';
import type { Frame, Operations } from '../../core/operations/operations.ts';
import type { Task, TaskState } from '../../core/task.ts';

export interface RecordedCall {
  readonly operation: keyof Operations;
  readonly args: readonly unknown[];
}

export interface ScriptedOperations extends Operations {
  /** Every call, in order. */
  readonly calls: RecordedCall[];
  callsOf(operation: keyof Operations): readonly (readonly unknown[])[];
}

export function taskIn(state: TaskState, extra: Partial<Task> = {}): Task {
  return { id: 't1', contextId: 'c1', status: { state, timestamp: '2026-11-30T10:00:00.000Z' }, ...extra };
}

export function statusFrame(sequence: number, state: TaskState): Frame {
  const { id, contextId, status } = taskIn(state);
  return { sequence, body: { statusUpdate: { taskId: id, contextId, status } } };
}

export function textFrame(sequence: number, text: string): Frame {
  const artifact = { artifactId: 'a1', parts: [{ text }] };
  return { sequence, body: { artifactUpdate: { taskId: 't1', contextId: 'c1', artifact, append: true } } };
}

export function framesOf(...frames: readonly (Frame | EventBody)[]): AsyncIterable<Frame> {
  return (async function* () {
    for (const frame of frames) yield 'body' in frame ? frame : { body: frame };
  })();
}

/** Answers a completed task to everything, unless `script` says otherwise. */
export function scriptedOperations(script: Partial<Operations> = {}): ScriptedOperations {
  const calls: RecordedCall[] = [];
  const done = taskIn('TASK_STATE_COMPLETED');
  const operations: Operations = {
    sendMessage: async () => ({ task: done }),
    sendStreamingMessage: async () =>
      framesOf({ sequence: 1, body: { task: taskIn('TASK_STATE_SUBMITTED') } }, statusFrame(2, 'TASK_STATE_COMPLETED')),
    getTask: async () => done,
    listTasks: async () => ({ tasks: [], totalSize: 0, pageSize: 0, nextPageToken: '' }),
    cancelTask: async () => taskIn('TASK_STATE_CANCELED'),
    subscribeToTask: async () => Promise.reject(taskNotFound()),
    renewUserToken: async () => undefined,
    ...script,
  };
  return {
    sendMessage: (...args) => recorded('sendMessage', args, operations.sendMessage(...args)),
    sendStreamingMessage: (...args) => recorded('sendStreamingMessage', args, operations.sendStreamingMessage(...args)),
    getTask: (...args) => recorded('getTask', args, operations.getTask(...args)),
    listTasks: (...args) => recorded('listTasks', args, operations.listTasks(...args)),
    cancelTask: (...args) => recorded('cancelTask', args, operations.cancelTask(...args)),
    subscribeToTask: (...args) => recorded('subscribeToTask', args, operations.subscribeToTask(...args)),
    renewUserToken: (...args) => recorded('renewUserToken', args, operations.renewUserToken(...args)),
    calls,
    callsOf: (operation) => calls.filter((call) => call.operation === operation).map(({ args }) => args),
  };

  function recorded<T>(operation: keyof Operations, args: readonly unknown[], result: T): T {
    calls.push({ operation, args });
    return result;
  }
}
