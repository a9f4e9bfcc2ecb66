import { z } from 'zod';
import { LIMITS } from '../../core/limits.ts';
import { TASK_STATES } from '../../core/task.ts';
import { timestampMs } from './timestamp.ts';
import {
  base64,
  boundedArray,
  historyLength,
  jsonObject,
  metadata,
  optionalFlag,
  optionalId,
  optionalText,
  requiredId,
  wireObject,
} from './wire-schema.ts';

/*
 * Params of the A2A 1.0 operations. The SDK's codecs turn whatever comes into something, so everything is refused here
 * that they would bend: a role they do not know, a part with no content or two, a text that is a number.
 */

const MAX_PARTS = 1_000;
const MAX_REFERENCES = 100;
const MAX_MODES = 100;
const MAX_PAGE_TOKEN_CHARS = 2_048;
const ARMS = ['text', 'raw', 'url', 'data'] as const;

const part = wireObject({
  text: optionalText,
  raw: base64.nullish(),
  url: z.string().min(1).nullish(),
  data: z.unknown().optional(),
  metadata,
  filename: optionalText,
  mediaType: optionalText,
}).superRefine((value, context) => {
  // `data: null` is a content, the JSON value null; the other arms are absent when null.
  const arms = ARMS.filter((arm) => (arm === 'data' ? value.data !== undefined : value[arm] != null));
  if (arms.length !== 1) {
    context.addIssue({ code: 'custom', message: `must have exactly one of ${ARMS.join(', ')}` });
  }
});

const pushConfig = {
  id: optionalId,
  url: z.string().min(1),
  token: optionalText,
  authentication: wireObject({ scheme: z.string().min(1), credentials: optionalText }).nullish(),
};

const message = wireObject({
  messageId: requiredId,
  contextId: optionalId,
  taskId: optionalId,
  role: z.literal('ROLE_USER', { error: 'must be ROLE_USER' }),
  parts: boundedArray(part, { min: 1, max: MAX_PARTS }),
  metadata,
  extensions: boundedArray(z.string(), { max: MAX_REFERENCES }).nullish(),
  referenceTaskIds: boundedArray(requiredId, { max: MAX_REFERENCES }).nullish(),
});

export const sendMessageParams = wireObject({
  message,
  configuration: wireObject({
    acceptedOutputModes: boundedArray(z.string(), { max: MAX_MODES }).nullish(),
    taskPushNotificationConfig: wireObject({ ...pushConfig, taskId: optionalId }).nullish(),
    historyLength,
    returnImmediately: optionalFlag,
  }).nullish(),
  metadata,
});

export const getTaskParams = wireObject({ id: requiredId, historyLength });
export const cancelTaskParams = wireObject({ id: requiredId, metadata });
export const subscribeToTaskParams = wireObject({ id: requiredId });

export const listTasksParams = wireObject({
  contextId: optionalId,
  status: z.enum([...TASK_STATES, 'TASK_STATE_UNSPECIFIED']).nullish(),
  pageSize: z.number().int().min(1).max(LIMITS.listMax).nullish(),
  pageToken: z.string().max(MAX_PAGE_TOKEN_CHARS).nullish(),
  historyLength,
  statusTimestampAfter: z
    .string()
    .refine((text) => timestampMs(text) !== undefined, { error: 'must be an ISO 8601 timestamp with an offset' })
    .nullish(),
  includeArtifacts: optionalFlag,
});

export const createPushConfigParams = wireObject({ ...pushConfig, taskId: requiredId });
export const pushConfigParams = wireObject({ taskId: requiredId, id: requiredId });
export const listPushConfigsParams = wireObject({
  taskId: requiredId,
  pageSize: z.number().int().min(0).max(LIMITS.listMax).nullish(),
  pageToken: z.string().max(MAX_PAGE_TOKEN_CHARS).nullish(),
});

/** For operations that read nothing of it. */
export const anyParams = jsonObject;
