import { escapedLength } from '../escaped-text.ts';
import { isStorableId } from '../identifier.ts';
import { LIMITS } from '../limits.ts';
import { clip } from '../markdown.ts';
import type { Json, JsonObject, Part } from '../message.ts';
import type { Artifact, InterruptedState, TerminalState, WorkingState } from '../task.ts';

/*
 * What an agent yields comes from code that nobody here wrote. It is checked by shape before it can reach a commit, and
 * text that one of the databases or clients could not hold (NUL, lone surrogates) is replaced.
 */

export type CheckedUpdate =
  | {
      readonly kind: 'status';
      readonly state: WorkingState | InterruptedState | TerminalState;
      readonly parts: readonly Part[];
      readonly metadata?: JsonObject;
    }
  | { readonly kind: 'artifact'; readonly artifact: Artifact; readonly append: boolean; readonly lastChunk: boolean }
  | { readonly kind: 'reply'; readonly parts: readonly Part[] };

const STATES: ReadonlySet<unknown> = new Set([
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
/** ProtoJSON reads both alphabets, padded or not. */
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const DEPTH_MAX = 64;

function refuse(what: string): never {
  throw new TypeError(`The agent yielded ${what}`);
}

/** Replaces NUL and lone surrogates by U+FFFD. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').replace(LONE_SURROGATE, '\uFFFD');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function json(value: unknown, where: string, depth = 0): Json {
  if (depth > DEPTH_MAX) refuse(`${where} nested deeper than ${DEPTH_MAX}`);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return storableText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : refuse(`${where} with a number JSON has not`);
  if (Array.isArray(value)) return value.map((item) => json(item, where, depth + 1));
  // A Date or a Map has no members of its own and would silently become {}.
  if (Object.prototype.toString.call(value) !== '[object Object]') return refuse(`${where} that is not JSON`);
  // Not by assignment: that would make the prototype out of a member named __proto__.
  return Object.fromEntries(
    Object.entries(value as object)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [storableText(key), json(member, where, depth + 1)]),
  );
}

function metadataOf(value: unknown, where: string): JsonObject | undefined {
  if (value === undefined) return undefined;
  if (!isObject(value)) return refuse(`${where} that is not an object`);
  const copy = json(value, where) as JsonObject;
  if (escapedLength(copy) > LIMITS.metadataChars) {
    return refuse(`${where} of more than ${LIMITS.metadataChars} characters`);
  }
  return copy;
}

function label(value: unknown, where: string): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') return refuse(`${where} that is not a string`);
  return storableText(clip(value, LIMITS.labelChars));
}

function flag(value: unknown, where: string): boolean {
  if (value === undefined || typeof value === 'boolean') return value === true;
  return refuse(`${where} that is neither true nor false`);
}

function extensionsOf(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every((uri) => typeof uri === 'string')) {
    return refuse('artifact extensions that are not a list of texts');
  }
  const uris = value.map(storableText);
  if (escapedLength(uris) > LIMITS.labelChars) {
    return refuse(`artifact extensions of more than ${LIMITS.labelChars} characters`);
  }
  return uris.length > 0 ? uris : undefined;
}

function part(value: unknown): Part {
  if (!isObject(value)) return refuse('a part that is not an object');
  const arms = ['text', 'raw', 'url', 'data'].filter((arm) => value[arm] !== undefined);
  if (arms.length !== 1) return refuse('a part without exactly one of text, raw, url and data');
  const filename = label(value['filename'], 'a filename');
  const mediaType = label(value['mediaType'], 'a mediaType');
  const metadata = metadataOf(value['metadata'], 'part metadata');
  const details = {
    ...(filename ? { filename } : {}),
    ...(mediaType ? { mediaType } : {}),
    ...(metadata ? { metadata } : {}),
  };
  const arm = arms[0];
  if (arm === 'data') return { data: json(value['data'], 'a data part'), ...details };
  const content = value[arm ?? ''];
  if (typeof content !== 'string') return refuse(`a part whose ${arm} is not a string`);
  if (arm === 'text') return { text: storableText(content), ...details };
  if (arm === 'url') return { url: storableText(content), ...details };
  return BASE64.test(content) ? { raw: content, ...details } : refuse('a part whose raw is not base64');
}

function partsOf(value: unknown, where: string): readonly Part[] {
  if (typeof value === 'string') return value === '' ? [] : [{ text: storableText(value) }];
  if (!Array.isArray(value)) return refuse(`${where} that is neither text nor parts`);
  return value.map(part);
}

function artifactOf(value: unknown): Artifact {
  if (!isObject(value)) return refuse('an artifact that is not an object');
  const id = value['artifactId'];
  if (typeof id !== 'string' || !isStorableId(id)) {
    return refuse(`an artifact without an artifactId of 1 to ${LIMITS.idBytes} bytes without control characters`);
  }
  const parts = partsOf(value['parts'], 'artifact parts');
  if (parts.length === 0) return refuse('an artifact without parts');
  const name = label(value['name'], 'an artifact name');
  const description = label(value['description'], 'an artifact description');
  const metadata = metadataOf(value['metadata'], 'artifact metadata');
  const extensions = extensionsOf(value['extensions']);
  return {
    artifactId: id,
    ...(name ? { name } : {}),
    ...(description ? { description } : {}),
    parts,
    ...(metadata ? { metadata } : {}),
    ...(extensions ? { extensions } : {}),
  };
}

/** Throws a TypeError that says what is wrong, without the value. */
export function checkUpdate(value: unknown): CheckedUpdate {
  if (!isObject(value)) return refuse('something that is not an object');
  const arms = ['state', 'artifact', 'reply'].filter((arm) => value[arm] !== undefined);
  if (arms.length > 1) return refuse(`${arms.join(' and ')} in one update`);
  if (value['reply'] !== undefined) {
    const parts = partsOf(value['reply'], 'a reply');
    return parts.length > 0 ? { kind: 'reply', parts } : refuse('an empty reply');
  }
  if (value['artifact'] !== undefined) {
    return {
      kind: 'artifact',
      artifact: artifactOf(value['artifact']),
      append: flag(value['append'], 'an append'),
      lastChunk: flag(value['lastChunk'], 'a lastChunk'),
    };
  }
  const state = value['state'];
  if (!STATES.has(state)) return refuse('an update with neither a known state, an artifact nor a reply');
  const metadata = metadataOf(value['metadata'], 'status metadata');
  return {
    kind: 'status',
    state: state as WorkingState | InterruptedState | TerminalState,
    parts: value['message'] === undefined ? [] : partsOf(value['message'], 'a message'),
    ...(metadata ? { metadata } : {}),
  };
}

/** Throws a TypeError before the effect runs. */
export function checkStepKey(key: unknown): void {
  if (typeof key !== 'string' || !isStorableId(key)) {
    throw new TypeError(`A step needs a key of 1 to ${LIMITS.idBytes} bytes without control characters`);
  }
}

/** An effect that answers nothing resulted in null. Throws a TypeError for what is not JSON. */
export function checkStepResult(value: unknown): Json {
  return value === undefined ? null : json(value, 'a step result');
}
