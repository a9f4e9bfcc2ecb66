import { Buffer } from 'node:buffer';
import { z } from 'zod';
import { LIMITS } from '../../core/limits.ts';
import type { JsonObject } from '../../core/message.ts';
import { isRecord } from './envelope.ts';

/*
 * What the schemas of both versions are built from. Nothing is coerced. Unknown fields are dropped, `null` means absent
 * (ProtoJSON), a field may also come under its proto name.
 */

const CONTROL = /\p{Cc}/u;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const MAX_INT32 = 2_147_483_647;

/** An object of the protocol; `context_id` is read as `contextId` unless that one is there as well. */
export function wireObject<S extends z.ZodRawShape>(shape: S) {
  const aliases = Object.keys(shape).flatMap((name) => {
    const protoName = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return protoName === name ? [] : [[protoName, name] as const];
  });
  return z.preprocess((input) => {
    if (!isRecord(input)) return input;
    const renamed = aliases.filter(([protoName, name]) => protoName in input && !(name in input));
    if (renamed.length === 0) return input;
    return { ...input, ...Object.fromEntries(renamed.map(([protoName, name]) => [name, input[protoName]])) };
  }, z.object(shape));
}

/** Compared byte by byte and never interpreted. */
const opaqueId = z.string().refine((id) => Buffer.byteLength(id) <= LIMITS.idBytes && !CONTROL.test(id), {
  error: `must be at most ${LIMITS.idBytes} bytes without control characters`,
});
export const requiredId = opaqueId.refine((id) => id.trim() !== '', { error: 'must not be blank' });
export const optionalId = opaqueId.nullish();

export const optionalText = z.string().nullish();
export const optionalFlag = z.boolean().nullish();
export const historyLength = z.number().int().min(0).max(MAX_INT32).nullish();

export const base64 = z.string().refine(isBase64, { error: 'must be base64' });

/** Kept as it came, by reference: it can be large and nothing in it is ours to read. */
export const jsonObject = z.custom<JsonObject>(isRecord, { error: 'must be an object' });
export const metadata = jsonObject
  .refine((value) => JSON.stringify(value).length <= LIMITS.metadataChars, {
    error: `must be at most ${LIMITS.metadataChars} characters of JSON`,
  })
  .nullish();

/** Counted before the elements are looked at, so that a million empty ones cost nothing. */
export function boundedArray<T extends z.ZodType>(element: T, bounds: { readonly min?: number; readonly max: number }) {
  return z
    .array(z.unknown())
    .min(bounds.min ?? 0)
    .max(bounds.max)
    .pipe(z.array(element));
}

function isBase64(text: string): boolean {
  return BASE64.test(text) && text.replaceAll('=', '').length % 4 !== 1;
}
