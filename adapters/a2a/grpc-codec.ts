import type { Buffer } from 'node:buffer';
import {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import type { EventBody } from '../../core/event.ts';
import type { JsonObject } from '../../core/message.ts';
import type { Task } from '../../core/task.ts';
import { toSdkEvent, toSdkTask } from './codec.ts';
import { excessFault } from './envelope.ts';
import { protocolError, type WireError } from './error-table.ts';

/*
 * Between protobuf and the ProtoJSON that a call is made of: a request is read with the SDK's generated codecs and then
 * checked as if it had come as JSON, a result is the one of the other bindings. What the codecs lose is put back (a null
 * in a data part) or refused here (text that is no UTF-8, which they would replace).
 */

export interface GrpcMethod {
  /** As the specification calls the operation. */
  readonly name: string;
  /** `/package.Service/Method` */
  readonly path: string;
  readonly streams: boolean;
  decode(bytes: Uint8Array): { readonly params: JsonObject } | { readonly refused: WireError };
  /** `result`: of the operation or, on a stream, of one event, in ProtoJSON. */
  encode(result: unknown): Buffer;
}

interface Definition<Request, Response> {
  readonly path: string;
  readonly responseStream: boolean;
  readonly requestDeserialize: (bytes: Buffer) => Request;
  readonly responseSerialize: (response: Response) => Buffer;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const config = (result: unknown) => TaskPushNotificationConfig.fromJSON(result);
const task = (result: unknown) => toSdkTask(result as Task);
const event = (result: unknown) => toSdkEvent(result as EventBody);

/** The operations of A2AService (A2A 1.0, 10.3). */
export const GRPC_METHODS: readonly GrpcMethod[] = [
  method(A2AService.sendMessage, SendMessageRequest.toJSON, (result) => {
    const { payload } = event(result);
    if (payload?.$case !== 'task' && payload?.$case !== 'message') throw new TypeError('neither a task nor a message');
    return { payload };
  }),
  method(A2AService.sendStreamingMessage, SendMessageRequest.toJSON, event),
  method(A2AService.getTask, GetTaskRequest.toJSON, task),
  method(A2AService.listTasks, listToJson, (result) => {
    const { tasks, ...page } = result as JsonObject & { readonly tasks: readonly Task[] };
    return { ...ListTasksResponse.fromJSON(page), tasks: tasks.map(task) };
  }),
  method(A2AService.cancelTask, CancelTaskRequest.toJSON, task),
  method(A2AService.subscribeToTask, SubscribeToTaskRequest.toJSON, event),
  method(A2AService.createTaskPushNotificationConfig, TaskPushNotificationConfig.toJSON, config),
  method(A2AService.getTaskPushNotificationConfig, GetTaskPushNotificationConfigRequest.toJSON, config),
  method(A2AService.listTaskPushNotificationConfigs, ListTaskPushNotificationConfigsRequest.toJSON, (result) =>
    ListTaskPushNotificationConfigsResponse.fromJSON(result),
  ),
  method(A2AService.deleteTaskPushNotificationConfig, DeleteTaskPushNotificationConfigRequest.toJSON, () => ({})),
  method(A2AService.getExtendedAgentCard, GetExtendedAgentCardRequest.toJSON, (result) => AgentCard.fromJSON(result)),
];

/** In protobuf 0 is what a number is that nobody set: a2a-go sends it for every list without a page size. */
function listToJson({ pageSize, ...request }: ListTasksRequest): unknown {
  return ListTasksRequest.toJSON({ ...request, pageSize: pageSize === 0 ? undefined : pageSize });
}

function method<Request, Response>(
  definition: Definition<Request, Response>,
  toJson: (request: Request) => unknown,
  toResponse: (result: unknown) => Response,
): GrpcMethod {
  const { path, responseStream, requestDeserialize, responseSerialize } = definition;
  return {
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    streams: responseStream,
    decode: (bytes) => {
      let params: JsonObject;
      try {
        // The generated decoders also take a reader, which is the only way to tell them how to read text.
        const reader = new BinaryReader(bytes, (text) => utf8.decode(text));
        params = toJson(requestDeserialize(reader as unknown as Buffer)) as JsonObject;
      } catch {
        return { refused: protocolError('PARSE_ERROR', 'The message is not the one that this method takes') };
      }
      const excess = excessFault(params);
      return excess === undefined ? { params } : { refused: excess };
    },
    encode: (result) => responseSerialize(toResponse(result)),
  };
}
