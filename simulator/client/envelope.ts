import { isObject, parseJson } from '../json.ts';
import type { RpcError } from './a2a.ts';
import type { MessageName } from './proto-fields.ts';
import { checkProtoJson } from './proto-json.ts';

/** A JSON-RPC answer, read strictly. `faults` empty means that Jira's client would take it as it is. */
export interface Envelope {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: RpcError;
  readonly faults: readonly string[];
}

const KEYS = new Set(['jsonrpc', 'id', 'result', 'error']);

function readError(error: unknown): { readonly error?: RpcError; readonly faults: readonly string[] } {
  if (!isObject(error) || !Number.isInteger(error.code) || typeof error.message !== 'string') {
    return { faults: ['error: an integer code and a message belong'] };
  }
  return { error: error as unknown as RpcError, faults: [] };
}

export function readEnvelope(text: string, expect: { readonly id: unknown; readonly result?: MessageName }): Envelope {
  const json = parseJson(text);
  if (!isObject(json)) return { faults: ['the answer is no JSON object'] };
  const faults: string[] = Object.keys(json)
    .filter((key) => !KEYS.has(key))
    .map((key) => `envelope.${key}: unknown field`);
  if (json.jsonrpc !== '2.0') faults.push('envelope.jsonrpc: "2.0" belongs');
  if (json.id !== expect.id)
    faults.push(`envelope.id: ${JSON.stringify(json.id)}, sent was ${JSON.stringify(expect.id)}`);
  const hasResult = Object.hasOwn(json, 'result');
  const hasError = Object.hasOwn(json, 'error');
  if (hasResult === hasError) faults.push('envelope: either result or error belongs');
  const problem = hasError ? readError(json.error) : { faults: [] };
  faults.push(...problem.faults);
  if (hasResult && expect.result) faults.push(...checkProtoJson(expect.result, json.result));
  return {
    id: json.id,
    faults,
    ...(hasResult ? { result: json.result } : {}),
    ...(problem.error ? { error: problem.error } : {}),
  };
}
