import {
  AgentCard,
  GetTaskRequest,
  ListTasksRequest,
  SendMessageRequest,
  type SubscribeToTaskRequest,
  taskStateToJSON,
} from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { DomainError, invalidParams } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { JsonObject } from '../../core/message.ts';
import type { Answer, FrameStream, ListQuery, ListResult, Operations } from '../../core/operations/operations.ts';
import type { Incoming } from '../../core/ports/edge.ts';
import type { ListFilter } from '../../core/ports/task-store.ts';
import type { Task, TaskState } from '../../core/task.ts';
import { type Call, callOf } from './call.ts';
import { toCoreMessage, toSdkMessage, toSdkTask, toWireMessage, toWireTask } from './codec.ts';
import type { Edge } from './edge.ts';
import { createHoldToOffer } from './offer.ts';
import { configOf, inlineConfig, type PushOptions, pushNotSupported, toWire } from './push-configs.ts';
import { ResponseStream } from './response-stream.ts';
import { timestampMs } from './timestamp.ts';

export interface HandlerOptions {
  readonly operations: Operations;
  readonly edge: Edge;
  /** The card of a caller whose credentials name this tenant; absent: the agent has only its public one. */
  readonly extendedCard?: (tenant: string | undefined) => JsonObject;
  /** Absent: nobody is notified, and whoever asks for it is told so. */
  readonly push?: PushOptions;
}

/** Streams can also be read without the SDK's translation, and some methods answered. */
export interface RequestHandler extends A2ARequestHandler {
  /** Results as 1.0 writes them, by the names that 1.0 has for its methods; the others take the way of the SDK. */
  readonly plain: Readonly<Record<string, (params: unknown, call: Call) => Promise<unknown>>>;
  sendMessageStream(params: SendMessageRequest, context: ServerCallContext): ResponseStream;
  resubscribe(params: SubscribeToTaskRequest, context: ServerCallContext): ResponseStream;
}

/**
 * The SDK's driving port over core's operations. What a method throws is kept on its call, because the transport
 * handlers reduce errors to code and text.
 */
export function createRequestHandler({ operations, edge, extendedCard, push }: HandlerOptions): RequestHandler {
  const holdToOffer = edge.offer && createHoldToOffer(edge.offer);

  return {
    // Read by the transport of 0.3 for this one field.
    getAgentCard: async () => AgentCard.fromJSON({ capabilities: { streaming: edge.streaming } }),
    // 3.1.11: a card that does not declare one is another error than declared and not configured.
    getAuthenticatedExtendedAgentCard: (_, context) =>
      run(context, async ({ tenant }) => {
        if (!extendedCard) throw new DomainError('UNSUPPORTED_OPERATION', 'There is no extended agent card');
        const card = AgentCard.fromJSON(extendedCard(tenant));
        // Signed in the form of 1.0, which nobody can verify after the translation.
        return context.requestedVersion === '0.3' ? { ...card, signatures: [] } : card;
      }),

    plain: {
      SendMessage: async (params, call) => {
        const answer = await sendMessage(SendMessageRequest.fromJSON(params), call);
        return 'task' in answer ? { task: toWireTask(answer.task) } : { message: toWireMessage(answer.message) };
      },
      GetTask: async (params, call) => toWireTask(await getTask(GetTaskRequest.fromJSON(params), call)),
      ListTasks: async (params, call) => {
        const request = ListTasksRequest.fromJSON(params);
        const { tasks, nextPageToken, pageSize, totalSize } = await listTasks(request, call);
        const shown = tasks.map(toWireTask);
        // Whoever asked for artifacts is told that there are none.
        const all = request.includeArtifacts ? shown.map((task) => ({ artifacts: [], ...task })) : shown;
        return { tasks: all, nextPageToken, pageSize, totalSize };
      },
    },

    sendMessage: (params, context) =>
      run(context, async (call) => {
        const answer = await sendMessage(params, call);
        return 'task' in answer ? toSdkTask(answer.task) : toSdkMessage(answer.message);
      }),
    sendMessageStream: (params, context) =>
      stream(callOf(context), (call) =>
        operations.sendStreamingMessage(call.profile, incomingOf(params, call), call.life.signal),
      ),

    getTask: (params, context) => run(context, async (call) => toSdkTask(await getTask(params, call))),
    listTasks: (params, context) =>
      run(context, async (call) => {
        const result = await listTasks(params, call);
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
        return operations.subscribeToTask(call.profile, call.caller, subscription, call.life.signal);
      }),

    createTaskPushNotificationConfig: (params, context) =>
      pushing(context, async (call, options) => {
        const config = { ...configOf(params, options), taskId: params.taskId };
        return toWire(await options.operations.create(call.caller, config));
      }),
    getTaskPushNotificationConfig: ({ taskId, id }, context) =>
      pushing(context, async (call, { operations: configs }) =>
        // Only 0.3 may leave the id out.
        toWire(await (id === '' ? configs.get(call.caller, taskId) : configs.get(call.caller, taskId, id))),
      ),
    listTaskPushNotificationConfigs: ({ taskId, pageSize, pageToken }, context) =>
      pushing(context, async (call, { operations: configs }) => {
        const page = await configs.list(call.caller, {
          taskId,
          ...(pageSize === 0 ? {} : { pageSize }),
          ...(pageToken === '' ? {} : { after: pageToken }),
        });
        return { configs: page.configs.map(toWire), nextPageToken: page.next ?? '' };
      }),
    deleteTaskPushNotificationConfig: ({ taskId, id }, context) =>
      pushing(context, (call, { operations: configs }) => configs.remove(call.caller, taskId, id)),
  };

  function sendMessage(params: SendMessageRequest, call: Call): Promise<Answer> {
    const { returnImmediately = false, historyLength } = params.configuration ?? {};
    const options = historyLength === undefined ? { returnImmediately } : { returnImmediately, historyLength };
    return operations.sendMessage(call.profile, incomingOf(params, call), options, call.life.signal);
  }

  async function getTask(params: GetTaskRequest, call: Call): Promise<Task> {
    await renew(call);
    return operations.getTask(call.caller, params.id, params.historyLength);
  }

  async function listTasks(params: ListTasksRequest, call: Call): Promise<ListResult> {
    await renew(call);
    return operations.listTasks(call.caller, queryOf(params));
  }

  function pushing<T>(context: ServerCallContext, work: (call: Call, options: PushOptions) => Promise<T>): Promise<T> {
    return run(context, async (call) => {
      if (!push) throw pushNotSupported();
      await renew(call);
      return work(call, push);
    });
  }

  function incomingOf(params: SendMessageRequest, call: Call): Incoming {
    if (params.message === undefined) throw invalidParams('message', 'is required');
    const given = params.configuration?.taskPushNotificationConfig;
    if (given !== undefined && !push) throw pushNotSupported();
    holdToOffer?.(params);
    const message = toCoreMessage(params.message);
    const key = call.key === undefined ? message.messageId : call.key;
    return {
      caller: call.caller,
      message,
      deadlineMs: call.deadlineMs,
      ...(key === null ? {} : { key }),
      ...(given && push ? { pushConfig: inlineConfig(given, message, push) } : {}),
    };
  }

  /** A poll may bring a fresher token of the user. Sends carry theirs into their own commit. */
  function renew({ caller }: Call): Promise<void> | undefined {
    return caller.userToken && operations.renewUserToken(caller);
  }
}

function run<T>(context: ServerCallContext, work: (call: Call) => Promise<T>): Promise<T> {
  const call = callOf(context);
  return work(call).catch((error: unknown) => {
    call.failure = { error };
    throw error;
  });
}

/** Errors need no keeping here: the transport handlers let those of a stream pass. */
function stream(call: Call, open: (call: Call) => Promise<FrameStream>): ResponseStream {
  return new ResponseStream(call.frame, () => open(call));
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
