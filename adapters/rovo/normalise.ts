import { invalidParams } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/message.ts';
import { isObject } from './payload.ts';
import { withJsonNames } from './proto-names.ts';

/*
 * Jira's client prints proto defaults: `"contextId":""` means that there is none. They are dropped before the
 * parameters are validated, at the places where A2A 1.0 or 0.3 has optional fields; what people or agents wrote (data,
 * metadata) stays as it came.
 */

const OPTIONAL = ['tenant', 'contextId', 'taskId', 'pageToken', 'metadata', 'configuration'];
const ID_METHODS = new Set([
  ...['GetTask', 'CancelTask', 'SubscribeToTask'],
  ...['tasks/get', 'tasks/cancel', 'tasks/resubscribe'],
]);

function isDefault(value: Json | undefined): boolean {
  return value === '' || value === null || (Array.isArray(value) && value.length === 0);
}

/** The same object when there is nothing to take out of it. */
function without(source: JsonObject, names: readonly string[]): JsonObject {
  if (!names.some((name) => isDefault(source[name]))) return source;
  return Object.fromEntries(
    Object.entries(source).filter(([name, value]) => !names.includes(name) || !isDefault(value)),
  );
}

function normalisePart(part: Json): Json {
  return isObject(part) ? without(withJsonNames('part', part), ['filename', 'mediaType', 'metadata']) : part;
}

function normaliseMessage(message: JsonObject): JsonObject {
  const optional = ['contextId', 'taskId', 'messageId', 'extensions', 'referenceTaskIds', 'metadata'];
  const { parts, ...rest } = without(withJsonNames('message', message), optional);
  if (parts === undefined) return rest;
  return { ...rest, parts: Array.isArray(parts) ? parts.map(normalisePart) : parts };
}

function normaliseConfiguration(configuration: Json): Json {
  const optional = ['acceptedOutputModes', 'historyLength', 'taskPushNotificationConfig', 'pushNotificationConfig'];
  return isObject(configuration) ? without(withJsonNames('configuration', configuration), optional) : configuration;
}

/** Jira's guide says `taskId` where the specification says `id`. */
function withTaskId(method: string, params: JsonObject): JsonObject {
  const { taskId, ...rest } = without(params, ['id']);
  return taskId === undefined || !ID_METHODS.has(method) ? params : { id: taskId, ...rest };
}

/**
 * The parameters without proto defaults, and with `id` where a task method was given only `taskId`. Throws
 * INVALID_PARAMS when they name a tenant: the tenant is the verified installation, nobody chooses it.
 */
export function normaliseParams(method: string, params: JsonObject): JsonObject {
  const { tenant, message, configuration, ...others } = without(withJsonNames('params', params), OPTIONAL);
  if (tenant !== undefined) throw invalidParams('tenant', 'must be empty: the tenant is the calling installation');
  return {
    ...withTaskId(method, others),
    ...(message === undefined ? {} : { message: isObject(message) ? normaliseMessage(message) : message }),
    ...(configuration === undefined ? {} : { configuration: normaliseConfiguration(configuration) }),
  };
}
