import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import * as sdk from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { Client, type ClientReadableStream, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';

/*
 * A gRPC client that sends what it is told and reads details of errors by their field numbers, without the encoder that
 * wrote them.
 */

interface Codec<T> {
  fromJSON(json: unknown): T;
  toJSON(value: T): unknown;
}

interface Call {
  /** The request of these params as bytes. */
  encode(params: unknown): Buffer;
  decode(bytes: Buffer): unknown;
  readonly path: string;
}

interface Definition<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (value: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

function callOf<Q, R>(definition: Definition<Q, R>, request: Codec<Q>, response: Pick<Codec<R>, 'toJSON'>): Call {
  return {
    path: definition.path,
    encode: (params) => definition.requestSerialize(request.fromJSON(params)),
    decode: (bytes) => response.toJSON(definition.responseDeserialize(bytes)),
  };
}

const empty = { toJSON: () => ({}) };

export const CALLS = {
  SendMessage: callOf(A2AService.sendMessage, sdk.SendMessageRequest, sdk.SendMessageResponse),
  SendStreamingMessage: callOf(A2AService.sendStreamingMessage, sdk.SendMessageRequest, sdk.StreamResponse),
  GetTask: callOf(A2AService.getTask, sdk.GetTaskRequest, sdk.Task),
  ListTasks: callOf(A2AService.listTasks, sdk.ListTasksRequest, sdk.ListTasksResponse),
  CancelTask: callOf(A2AService.cancelTask, sdk.CancelTaskRequest, sdk.Task),
  SubscribeToTask: callOf(A2AService.subscribeToTask, sdk.SubscribeToTaskRequest, sdk.StreamResponse),
  CreateTaskPushNotificationConfig: callOf(
    A2AService.createTaskPushNotificationConfig,
    sdk.TaskPushNotificationConfig,
    sdk.TaskPushNotificationConfig,
  ),
  GetTaskPushNotificationConfig: callOf(
    A2AService.getTaskPushNotificationConfig,
    sdk.GetTaskPushNotificationConfigRequest,
    sdk.TaskPushNotificationConfig,
  ),
  ListTaskPushNotificationConfigs: callOf(
    A2AService.listTaskPushNotificationConfigs,
    sdk.ListTaskPushNotificationConfigsRequest,
    sdk.ListTaskPushNotificationConfigsResponse,
  ),
  DeleteTaskPushNotificationConfig: callOf(
    A2AService.deleteTaskPushNotificationConfig,
    sdk.DeleteTaskPushNotificationConfigRequest,
    empty,
  ),
  GetExtendedAgentCard: callOf(A2AService.getExtendedAgentCard, sdk.GetExtendedAgentCardRequest, sdk.AgentCard),
} as const;
export type Operation = keyof typeof CALLS;

export interface Ended {
  readonly code: keyof typeof status;
  readonly text: string;
  readonly trailers: Metadata;
  /** google.rpc.ErrorInfo's, when there is one. */
  readonly reason: string | undefined;
  readonly domain: string | undefined;
  readonly fields: readonly string[];
  readonly retryMs: number | undefined;
}

export interface Reply extends Ended {
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
  readonly json: any;
}

export interface StreamReply extends Ended {
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
  readonly events: readonly any[];
}

export interface GrpcClient {
  /** A Uint8Array in place of params is sent as it is. */
  ask(operation: Operation, params: unknown, options?: AskOptions): Promise<Reply>;
  /** Reads to the end. */
  read(operation: Operation, params: unknown, options?: AskOptions): Promise<StreamReply>;
  open(operation: Operation, params: unknown, options?: AskOptions): ClientReadableStream<Buffer>;
  close(): void;
}

export interface AskOptions {
  readonly metadata?: Readonly<Record<string, string | readonly string[]>>;
  readonly deadline?: number | Date;
  readonly signal?: AbortSignal;
}

export function grpcClient(
  t: { after(work: () => void): void },
  address: string,
  common: Readonly<Record<string, string>> = {},
): GrpcClient {
  const client = new Client(address, credentials.createInsecure());
  t.after(() => client.close());
  const same = (bytes: Buffer): Buffer => bytes;
  const bytesOf = (operation: Operation, params: unknown) =>
    params instanceof Uint8Array ? Buffer.from(params) : CALLS[operation].encode(params);
  const metadataOf = ({ metadata = {} }: AskOptions) => {
    const made = new Metadata();
    for (const [name, values] of Object.entries({ 'a2a-version': '1.0', ...common, ...metadata })) {
      for (const value of [values].flat()) if (value !== '') made.add(name, value);
    }
    return made;
  };
  const optionsOf = ({ deadline }: AskOptions) => (deadline === undefined ? {} : { deadline });

  const open: GrpcClient['open'] = (operation, params, options = {}) =>
    client.makeServerStreamRequest(
      CALLS[operation].path,
      same,
      same,
      bytesOf(operation, params),
      metadataOf(options),
      optionsOf(options),
    );
  return {
    ask: (operation, params, options = {}) =>
      new Promise((resolve) => {
        const { path, decode } = CALLS[operation];
        const call = client.makeUnaryRequest(
          path,
          same,
          same,
          bytesOf(operation, params),
          metadataOf(options),
          optionsOf(options),
          (error: ServiceError | null, bytes?: Buffer) => {
            if (error) resolve({ ...endOf(error), json: undefined });
            else {
              const json = bytes && decode(bytes);
              resolve({ ...endOf({ code: status.OK, details: '', metadata: new Metadata() }), json });
            }
          },
        );
        options.signal?.addEventListener('abort', () => call.cancel());
      }),
    read: (operation, params, options) => readAll(operation, open(operation, params, options)),
    open,
    close: () => client.close(),
  };
}

export function readAll(operation: Operation, call: ClientReadableStream<Buffer>): Promise<StreamReply> {
  return new Promise((resolve) => {
    const events: unknown[] = [];
    call.on('data', (bytes: Buffer) => events.push(CALLS[operation].decode(bytes)));
    call.on('error', () => undefined);
    call.on('status', (end) => resolve({ ...endOf(end), events }));
  });
}

export function endOf({
  code,
  details,
  metadata,
}: {
  readonly code: number;
  readonly details: string;
  readonly metadata: Metadata;
}): Ended {
  const [bytes] = metadata.get('grpc-status-details-bin');
  const rich = bytes === undefined ? undefined : readStatus(bytes as Buffer);
  if (rich) assert.deepEqual([rich.code, rich.text], [code, details], 'the status says what its details say');
  return {
    code: status[code] as keyof typeof status,
    text: details,
    trailers: metadata,
    reason: rich?.reason,
    domain: rich?.domain,
    fields: rich?.fields ?? [],
    retryMs: rich?.retryMs,
  };
}

/** Field numbers to values; texts and messages as bytes. */
function fieldsOf(bytes: Uint8Array): readonly (readonly [number, number | Uint8Array])[] {
  const reader = new BinaryReader(bytes);
  const fields: (readonly [number, number | Uint8Array])[] = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    fields.push([number, wireType === 2 ? reader.bytes() : Number(reader.int64())]);
  }
  return fields;
}

function all(bytes: Uint8Array, number: number): readonly Uint8Array[] {
  return fieldsOf(bytes).flatMap(([field, value]) => (field === number && typeof value === 'object' ? [value] : []));
}

function text(bytes: Uint8Array, number: number): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(all(bytes, number)[0]);
}

function number(bytes: Uint8Array, field: number): number {
  const [, value] = fieldsOf(bytes).find(([each]) => each === field) ?? [];
  return typeof value === 'number' ? value : 0;
}

function readStatus(bytes: Uint8Array) {
  const details = new Map(all(bytes, 3).map((any) => [text(any, 1), all(any, 2)[0] ?? new Uint8Array()]));
  const info = details.get('type.googleapis.com/google.rpc.ErrorInfo');
  const bad = details.get('type.googleapis.com/google.rpc.BadRequest');
  const [delay] = all(details.get('type.googleapis.com/google.rpc.RetryInfo') ?? new Uint8Array(), 1);
  return {
    code: number(bytes, 1),
    text: text(bytes, 2),
    reason: info && text(info, 1),
    domain: info && text(info, 2),
    fields: bad ? all(bad, 1).map((violation) => text(violation, 1)) : [],
    retryMs: delay && number(delay, 1) * 1_000 + number(delay, 2) / 1_000_000,
  };
}

/** The call ended with this status and reason. Answers the violated fields. */
export function assertEnded(reply: Ended, code: keyof typeof status, reason: string): readonly string[] {
  assert.deepEqual([reply.code, reply.reason, reply.domain], [code, reason, 'a2a-protocol.org'], reply.text);
  return reply.fields;
}
