import {
  AgentCard,
  type ListTasksRequest,
  type SendMessageRequest,
  type StreamResponse,
  taskStateToJSON,
} from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { DomainError, invalidParams } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Frame, ListQuery, Operations } from '../../core/operations/operations.ts';
import type { Incoming } from '../../core/ports/edge.ts';
import type { ListFilter } from '../../core/ports/task-store.ts';
import type { TaskState } from '../../core/task.ts';
import { type Call, callOf } from './call.ts';
import { toCoreMessage, toSdkEvent, toSdkMessage, toSdkTask } from './codec.ts';
import { timestampMs } from './timestamp.ts';

/**
 * The SDK's driving port over core's operations. What a method throws is kept on its call, because the transport
 * handlers reduce errors to code and text.
 */
export function createRequestHandler(
  operations: Operations,
  capabilities: { readonly streaming: boolean },
): A2ARequestHandler {
  return {
    getAgentCard: async () => AgentCard.fromJSON({ capabilities }),
    // 3.1.11: the card does not declare one, which is another error than declared and not configured.
    getAuthenticatedExtendedAgentCard: (_, context) =>
      refuse(context, new DomainError('UNSUPPORTED_OPERATION', 'There is no extended agent card')),

    sendMessage: (params, context) =>
      run(context, async (call) => {
        const incoming = incomingOf(params, call);
        const historyLength = params.configuration?.historyLength;
        const answer = await operations.sendMessage(
          call.profile,
          incoming,
          {
            returnImmediately: params.configuration?.returnImmediately ?? false,
            ...(historyLength === undefined ? {} : { historyLength }),
          },
          call.signal,
        );
        return 'task' in answer ? toSdkTask(answer.task) : toSdkMessage(answer.message);
      }),
    sendMessageStream: (params, context) =>
      stream(callOf(context), (call) =>
        operations.sendStreamingMessage(call.profile, incomingOf(params, call), call.signal),
      ),

    getTask: (params, context) =>
      run(context, async (call) => {
        await renew(call);
        return toSdkTask(await operations.getTask(call.caller, params.id, params.historyLength));
      }),
    listTasks: (params, context) =>
      run(context, async (call) => {
        await renew(call);
        const result = await operations.listTasks(call.caller, queryOf(params));
        return { ...result, tasks: result.tasks.map(toSdkTask) };
      }),
    cancelTask: (params, context) =>
      run(context, async (call) => {
        await renew(call);
        return toSdkTask(await operations.cancelTask(call.caller, params.id));
      }),
    resubscribe: (params, context) =>
      stream(callOf(context), async (call) => {
        await renew(call);
        const subscription = { taskId: params.id, ...(call.after === undefined ? {} : { after: call.after }) };
        return operations.subscribeToTask(call.profile, call.caller, subscription, call.signal);
      }),

    createTaskPushNotificationConfig: (_, context) => refuse(context, pushNotSupported()),
    getTaskPushNotificationConfig: (_, context) => refuse(context, pushNotSupported()),
    listTaskPushNotificationConfigs: (_, context) => refuse(context, pushNotSupported()),
    deleteTaskPushNotificationConfig: (_, context) => refuse(context, pushNotSupported()),
  };

  /** A poll may bring a fresher token of the user. Sends carry theirs into their own commit. */
  async function renew(call: Call): Promise<void> {
    if (call.caller.userToken !== undefined) await operations.renewUserToken(call.caller);
  }
}

async function run<T>(context: ServerCallContext, work: (call: Call) => Promise<T>): Promise<T> {
  const call = callOf(context);
  try {
    return await work(call);
  } catch (error) {
    call.failure = { error };
    throw error;
  }
}

function refuse(context: ServerCallContext, error: DomainError): Promise<never> {
  return run(context, () => Promise.reject(error));
}

/** Errors need no keeping here: the transport handlers let those of a stream pass. */
async function* stream(
  call: Call,
  open: (call: Call) => Promise<AsyncIterable<Frame>>,
): AsyncGenerator<StreamResponse, void, undefined> {
  for await (const frame of await open(call)) {
    call.sequence = frame.sequence;
    yield toSdkEvent(frame.body);
    // A Message is the whole stream (3.1.2).
    if ('message' in frame.body) return;
  }
}

function incomingOf(params: SendMessageRequest, call: Call): Incoming {
  if (params.configuration?.taskPushNotificationConfig !== undefined) throw pushNotSupported();
  if (params.message === undefined) throw invalidParams('message', 'is required');
  const message = toCoreMessage(params.message);
  const key = call.key === undefined ? message.messageId : call.key;
  return { caller: call.caller, message, deadlineMs: call.deadlineMs, ...(key === null ? {} : { key }) };
}

function queryOf(params: ListTasksRequest): ListQuery {
  return {
    filter: filterOf(params),
    pageSize: params.pageSize ?? LIMITS.listDefault,
    includeArtifacts: params.includeArtifacts ?? false,
    ...(params.pageToken === '' ? {} : { pageToken: params.pageToken }),
    ...(params.historyLength === undefined ? {} : { historyLength: params.historyLength }),
  };
}

function filterOf({ contextId, status, statusTimestampAfter }: ListTasksRequest): ListFilter {
  const state = taskStateToJSON(status);
  const statusSince = statusTimestampAfter === undefined ? undefined : timestampMs(statusTimestampAfter);
  return {
    ...(contextId === '' ? {} : { contextId }),
    ...(state === 'TASK_STATE_UNSPECIFIED' ? {} : { state: state as TaskState }),
    ...(statusSince === undefined ? {} : { statusSince }),
  };
}

function pushNotSupported(): DomainError {
  return new DomainError('PUSH_NOT_SUPPORTED', 'Push notifications are not supported');
}
