import { invalidParams } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/message.ts';
import { isRecord, parseDocument } from './envelope.ts';
import type { WireError } from './error-table.ts';

/*
 * The request message of an HTTP+JSON call, gathered from path, query and body (A2A 1.0, 11.4 and 11.5). What is no
 * number or flag stays the text that it is, for the schema of the operation to refuse by name.
 */

const NUMBERS = ['historyLength', 'history_length', 'pageSize', 'page_size'];
const FLAGS = ['includeArtifacts', 'include_artifacts'];

/** Every parameter, also those that no operation has. Throws DomainError INVALID_PARAMS on one that comes twice. */
export function queryParams(query: string): JsonObject {
  const params = new Map<string, Json>();
  for (const [name, text] of new URLSearchParams(query)) {
    if (params.has(name)) throw invalidParams(name, 'must be given once');
    // A parameter without a value is one that was left out, as in ProtoJSON.
    if (text !== '') params.set(name, typedValue(name, text));
  }
  return Object.fromEntries(params);
}

function typedValue(name: string, text: string): Json {
  if (NUMBERS.includes(name) && /^-?\d{1,10}$/.test(text)) return Number(text);
  if (FLAGS.includes(name) && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** A body that is not there is an empty message, and so is the null that a2a-go sends where there is nothing to say. */
export function bodyParams(body: Uint8Array): { readonly params: JsonObject } | { readonly refused: WireError } {
  if (body.length === 0) return { params: {} };
  const parsed = parseDocument(body);
  if ('refused' in parsed) return parsed;
  if (parsed.value === null) return { params: {} };
  if (!isRecord(parsed.value)) throw invalidParams('body', 'must be a JSON object');
  return { params: parsed.value as JsonObject };
}

/** Throws DomainError INVALID_PARAMS when the request says of a field something else than its path. */
export function withPathFields(params: JsonObject, fields: JsonObject): JsonObject {
  for (const [field, value] of Object.entries(fields)) {
    for (const name of [field, field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]) {
      const said = params[name];
      if (said === undefined || said === null || said === '' || said === value) continue;
      throw invalidParams(field, 'must be the one in the path, or absent');
    }
  }
  return { ...params, ...fields };
}
