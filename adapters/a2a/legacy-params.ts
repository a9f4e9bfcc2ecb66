import { z } from 'zod';
import {
  base64,
  boundedArray,
  jsonObject,
  optionalId,
  optionalText,
  requiredId,
  historyLength as wireHistoryLength,
  metadata as wireMetadata,
} from './wire-schema.ts';

/*
 * Params of A2A 0.3, as far as the SDK's translation to 1.0 relies on them: it reads nested fields without looking and
 * would answer with the TypeError's text.
 */

const MAX_PARTS = 1_000;
const MAX_REFERENCES = 100;

/** The translation passes a null on, where 1.0's codec takes it for absent. */
const metadata = wireMetadata.transform((value) => value ?? undefined);
const historyLength = wireHistoryLength.transform((value) => value ?? undefined);
const fileDetails = { name: optionalText, mimeType: optionalText };

const part = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string(), metadata }),
  z.object({
    kind: z.literal('file'),
    file: z.union([z.object({ ...fileDetails, bytes: base64 }), z.object({ ...fileDetails, uri: z.string().min(1) })]),
    metadata,
  }),
  z.object({ kind: z.literal('data'), data: jsonObject, metadata }),
]);

const pushConfig = z.object({
  id: optionalId,
  url: z.string().min(1),
  token: optionalText,
  authentication: z
    .object({ schemes: boundedArray(z.string().min(1), { min: 1, max: MAX_REFERENCES }), credentials: optionalText })
    .nullish(),
});

export const legacySendParams = z.object({
  message: z.object({
    kind: z.literal('message').optional(),
    messageId: requiredId,
    contextId: optionalId,
    taskId: optionalId,
    role: z.literal('user', { error: 'must be user' }),
    parts: boundedArray(part, { min: 1, max: MAX_PARTS }),
    metadata,
    extensions: boundedArray(z.string(), { max: MAX_REFERENCES }).nullish(),
    referenceTaskIds: boundedArray(requiredId, { max: MAX_REFERENCES }).nullish(),
  }),
  configuration: z
    .object({
      acceptedOutputModes: boundedArray(z.string(), { max: MAX_REFERENCES }).nullish(),
      blocking: z.boolean().optional(),
      historyLength,
      pushNotificationConfig: pushConfig.nullish(),
    })
    .nullish(),
  metadata,
});

export const legacyGetParams = z.object({ id: requiredId, historyLength });
export const legacyTaskParams = z.object({ id: requiredId, metadata });
export const legacyPushSetParams = z.object({ taskId: requiredId, pushNotificationConfig: pushConfig });
export const legacyPushGetParams = z.object({ id: requiredId, pushNotificationConfigId: optionalId });
export const legacyPushDeleteParams = z.object({ id: requiredId, pushNotificationConfigId: requiredId });
