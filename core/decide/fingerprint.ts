import type { Json, Message, Part } from '../message.ts';

/*
 * Two sends are the same message when these texts are equal. It holds every field of the message that core knows but
 * `messageId`, with keys sorted and defaults dropped, so that a client that prints `"contextId":""` on its retry is
 * still understood. The configuration and the JSON-RPC id are no part of it: a retry may ask differently.
 */

function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const object = value as { readonly [key: string]: Json };
    const members = Object.keys(object)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(object[key] ?? null)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

function partFields(part: Part): Json {
  const fields: Record<string, Json> = {};
  if ('text' in part) fields['text'] = part.text;
  else if ('raw' in part) fields['raw'] = part.raw;
  else if ('url' in part) fields['url'] = part.url;
  else fields['data'] = part.data;
  if (part.filename) fields['filename'] = part.filename;
  if (part.mediaType) fields['mediaType'] = part.mediaType;
  if (part.metadata && Object.keys(part.metadata).length > 0) fields['metadata'] = part.metadata;
  return fields;
}

/** Input of the digest that a repeat is compared by. */
export function canonicalMessage(message: Message): string {
  const fields: Record<string, Json> = { role: message.role, parts: message.parts.map(partFields) };
  if (message.contextId) fields['contextId'] = message.contextId;
  if (message.taskId) fields['taskId'] = message.taskId;
  if (message.metadata && Object.keys(message.metadata).length > 0) fields['metadata'] = message.metadata;
  if (message.extensions && message.extensions.length > 0) fields['extensions'] = message.extensions;
  if (message.referenceTaskIds && message.referenceTaskIds.length > 0) {
    fields['referenceTaskIds'] = message.referenceTaskIds;
  }
  return canonical(fields);
}
