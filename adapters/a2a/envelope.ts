import { Buffer } from 'node:buffer';
import { LIMITS } from '../../core/limits.ts';
import { protocolError, type WireError } from './error-table.ts';

/*
 * The JSON-RPC envelope, before anything in it is believed. A2A has no notifications and no batches (9.1). The id goes
 * back exactly as it came, also 0 and "", so one that cannot is refused: no string or safe integer, or too long to stand
 * in every frame of a stream.
 */

export type RpcId = string | number;

export interface RpcCall {
  readonly id: RpcId;
  readonly method: string;
  /** Undefined when absent. */
  readonly params: unknown;
}

type ParsedEnvelope =
  | { readonly call: RpcCall }
  /** `id` is null where it was unusable. */
  | { readonly refused: WireError; readonly id: RpcId | null };

/** Arrays and objects inside each other; protobuf parsers stop at the same depth. */
const MAX_JSON_DEPTH = 100;
/** In one body. What is done with each costs far more than its two bytes. */
const MAX_JSON_VALUES = 100_000;

/** Shorter bodies have neither: each level has two brackets. */
const LEAST_EXCESS_BYTES = 2 * MAX_JSON_DEPTH;

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function parseEnvelope(body: Uint8Array): ParsedEnvelope {
  const parsed = parseDocument(body);
  if ('refused' in parsed) return { refused: parsed.refused, id: null };
  const { value } = parsed;
  if (Array.isArray(value)) return refuse('Batches are not supported');
  if (!isRecord(value)) return refuse('A JSON-RPC request is an object');
  if (!('id' in value)) return refuse('A request needs an id: A2A has no notifications');
  const { id, jsonrpc, method, params } = value;
  if (!isId(id)) return refuse('The id must be a short string or an integer');
  if (jsonrpc !== '2.0') return refuse('jsonrpc must be "2.0"', id);
  if (typeof method !== 'string' || method === '') {
    return refuse('method must be a string that is not empty', id);
  }
  return { call: { id, method, params } };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A body as JSON, whatever it says. */
export function parseDocument(body: Uint8Array): { readonly value: unknown } | { readonly refused: WireError } {
  try {
    const value: unknown = JSON.parse(utf8.decode(body));
    if (body.length < LEAST_EXCESS_BYTES) return { value };
    const excess = excessFault(value);
    return excess === undefined ? { value } : { refused: excess };
  } catch {
    return { refused: protocolError('PARSE_ERROR', 'The body is no JSON document in UTF-8') };
  }
}

/** What is wrong with the mere size of a document, however it came. */
export function excessFault(document: unknown): WireError | undefined {
  const excess = excessOf(document);
  if (excess === undefined) return undefined;
  if (excess === 'depth') return protocolError('PARSE_ERROR', 'The document is nested too deeply');
  return protocolError('INVALID_REQUEST', `The document holds more than ${MAX_JSON_VALUES} values`);
}

function refuse(text: string, id: RpcId | null = null): ParsedEnvelope {
  return { refused: protocolError('INVALID_REQUEST', text), id };
}

/** Looks at structure only, and no further than the limits: JSON.parse takes anything, what comes after it recurses. */
function excessOf(document: unknown): 'depth' | 'values' | undefined {
  let values = 1;
  const walk = (value: unknown, levels: number): 'depth' | 'values' | undefined => {
    if (typeof value !== 'object' || value === null) return undefined;
    if (levels === 0) return 'depth';
    const children = Array.isArray(value) ? value : Object.values(value);
    values += children.length;
    if (values > MAX_JSON_VALUES) return 'values';
    for (const child of children) {
      const excess = walk(child, levels - 1);
      if (excess !== undefined) return excess;
    }
    return undefined;
  };
  return walk(document, MAX_JSON_DEPTH);
}

function isId(id: unknown): id is RpcId {
  if (typeof id === 'string') return Buffer.byteLength(id) <= LIMITS.idBytes;
  return typeof id === 'number' && Number.isSafeInteger(id);
}
