import type { Part as SdkPart } from '@a2a-js/sdk';
import { Message as SdkMessage, StreamResponse as SdkStreamResponse, Task as SdkTask } from '@a2a-js/sdk';
import type { EventBody } from '../../core/event.ts';
import type { Message, Part } from '../../core/message.ts';
import type { Task } from '../../core/task.ts';

/*
 * Between core, which speaks ProtoJSON, and the SDK's in-memory types. fromJSON loses the content of `{data: null}`: a
 * part without content can only be that one, so it is put back.
 */

export function toSdkTask(task: Task): SdkTask {
  return mendTask(SdkTask.fromJSON(task));
}

export function toSdkMessage(message: Message): SdkMessage {
  return mendMessage(SdkMessage.fromJSON(message));
}

export function toSdkEvent(body: EventBody): SdkStreamResponse {
  const response = SdkStreamResponse.fromJSON(body);
  const { payload } = response;
  if (payload?.$case === 'task') mendTask(payload.value);
  if (payload?.$case === 'message') mendMessage(payload.value);
  if (payload?.$case === 'statusUpdate') mendMessage(payload.value.status?.message);
  if (payload?.$case === 'artifactUpdate') mendParts(payload.value.artifact?.parts);
  return response;
}

/** Core's form is the one of 1.0's wire, but for base64: an agent may have used the other alphabet. */
export function toWireEvent(body: EventBody): unknown {
  return bytesIn(body) ? SdkStreamResponse.toJSON(toSdkEvent(body)) : body;
}

/** The same; lists that are empty are left out. */
export function toWireTask(task: Task): object {
  if (bytesInTask(task)) return SdkTask.toJSON(toSdkTask(task)) as object;
  const { artifacts, history } = task;
  if (artifacts?.length !== 0 && history?.length !== 0) return task;
  const wire: { -readonly [K in keyof Task]: Task[K] } = {
    id: task.id,
    contextId: task.contextId,
    status: task.status,
  };
  if (artifacts?.length) wire.artifacts = artifacts;
  if (history?.length) wire.history = history;
  if (task.metadata) wire.metadata = task.metadata;
  return wire;
}

export function toWireMessage(message: Message): unknown {
  return anyRaw(message.parts) ? SdkMessage.toJSON(toSdkMessage(message)) : message;
}

function bytesIn(body: EventBody): boolean {
  if ('artifactUpdate' in body) return anyRaw(body.artifactUpdate.artifact.parts);
  if ('statusUpdate' in body) return anyRaw(body.statusUpdate.status.message?.parts);
  return 'message' in body ? anyRaw(body.message.parts) : bytesInTask(body.task);
}

function bytesInTask({ status, artifacts = [], history = [] }: Task): boolean {
  if (anyRaw(status.message?.parts)) return true;
  for (const { parts } of artifacts) if (anyRaw(parts)) return true;
  for (const { parts } of history) if (anyRaw(parts)) return true;
  return false;
}

function anyRaw(parts: readonly Part[] = []): boolean {
  for (const part of parts) if ('raw' in part) return true;
  return false;
}

/** Validated before: what toJSON writes is core's form. */
export function toCoreMessage(message: SdkMessage): Message {
  return SdkMessage.toJSON(mendMessage(message)) as Message;
}

function mendTask(task: SdkTask): SdkTask {
  mendMessage(task.status?.message);
  for (const message of task.history) mendMessage(message);
  for (const artifact of task.artifacts) mendParts(artifact.parts);
  return task;
}

function mendMessage<T extends SdkMessage | undefined>(message: T): T {
  mendParts(message?.parts);
  return message;
}

function mendParts(parts: readonly SdkPart[] | undefined): void {
  for (const part of parts ?? []) part.content ??= { $case: 'data', value: null };
}
