import type { JsonObject } from '../../core/message.ts';

/*
 * ProtoJSON lets a client write a field under its name in a2a.proto, `message_id` for `messageId`. The validation reads
 * both, but it comes after the normalisation, which would take such a message for one without an id and give every
 * repeat of it a key of its own. So the fields that the normalisation looks at get their JSON names first.
 */

const PROTO_NAMES = {
  params: { context_id: 'contextId', task_id: 'taskId', page_token: 'pageToken' },
  message: {
    message_id: 'messageId',
    context_id: 'contextId',
    task_id: 'taskId',
    reference_task_ids: 'referenceTaskIds',
  },
  part: { media_type: 'mediaType' },
  configuration: {
    accepted_output_modes: 'acceptedOutputModes',
    history_length: 'historyLength',
    task_push_notification_config: 'taskPushNotificationConfig',
    return_immediately: 'returnImmediately',
  },
} as const satisfies Record<string, Readonly<Record<string, string>>>;

/** The same object under its JSON names. Where both names are there, the JSON name counts and the other one goes. */
export function withJsonNames(kind: keyof typeof PROTO_NAMES, source: JsonObject): JsonObject {
  const names: Readonly<Record<string, string>> = PROTO_NAMES[kind];
  let found = false;
  for (const protoName in names) found ||= Object.hasOwn(source, protoName);
  if (!found) return source;
  const renamed = Object.entries(source).flatMap(([name, value]) => {
    const jsonName = Object.hasOwn(names, name) ? names[name] : undefined;
    if (jsonName === undefined) return [[name, value] as const];
    return Object.hasOwn(source, jsonName) ? [] : [[jsonName, value] as const];
  });
  return Object.fromEntries(renamed);
}
