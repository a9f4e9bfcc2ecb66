import assert from 'node:assert/strict';
import type { Served } from './serve.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: golden tests read whatever came over the wire
  readonly json: any;
}

export interface RpcRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

/** Sends exactly this text and reads the whole answer. */
export async function post(served: Served, body: string | Uint8Array, request: RpcRequest = {}): Promise<Answer> {
  const response = await fetch(`${served.origin}${request.path ?? '/a2a'}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...request.headers },
    body,
    redirect: 'manual',
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

export function rpc(method: string, params?: unknown, id: unknown = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

export function call(served: Served, method: string, params?: unknown, request: RpcRequest = {}): Promise<Answer> {
  return post(served, rpc(method, params), request);
}

/** Params of a valid SendMessage whose message is changed by these; undefined takes a field out. */
export function send(
  changes: Readonly<Record<string, unknown>> = {},
  rest: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }], ...changes }, ...rest };
}

/** The answer is this JSON-RPC error over HTTP 200, with an ErrorInfo. Answers the violated fields. */
export function assertRefused(answer: Answer, code: number, id: unknown = 1): readonly string[] {
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(answer.json.jsonrpc, '2.0');
  assert.equal(answer.json.id, id);
  assert.equal(answer.json.error?.code, code, answer.text);
  const [info, ...others] = answer.json.error.data;
  assert.equal(info['@type'], 'type.googleapis.com/google.rpc.ErrorInfo');
  assert.equal(info.domain, 'a2a-protocol.org');
  assert.match(info.reason, /^[A-Z_]+$/);
  const bad = others.find((detail: { '@type': string }) => detail['@type'].endsWith('.BadRequest'));
  return bad?.fieldViolations.map(({ field }: { field: string }) => field) ?? [];
}
