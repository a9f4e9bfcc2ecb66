import assert from 'node:assert/strict';
import type { Answer } from './rpc.ts';
import type { Served } from './serve.ts';

export interface RestRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
}

/** One HTTP+JSON request to a path below /a2a/v1, as `METHOD /path`. */
export async function rest(served: Served, line: string, request: RestRequest = {}): Promise<Answer> {
  const [method = '', path = ''] = line.split(' ');
  const { body } = request;
  const response = await fetch(`${served.origin}/a2a/v1${path}`, {
    method,
    headers: {
      'A2A-Version': '1.0',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...request.headers,
    },
    body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
    redirect: 'manual',
  });
  const text = await response.text();
  const isJson = /^application\/(a2a\+)?json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** The answer is google.rpc.Status with this HTTP status and reason (11.6). Answers the violated fields. */
export function assertStatus(answer: Answer, status: number, reason: string): readonly string[] {
  assert.equal(answer.status, status, answer.text);
  const { error } = answer.json;
  assert.deepEqual(Object.keys(answer.json), ['error']);
  assert.equal(error.code, status);
  assert.match(error.status, /^[A-Z_]+$/);
  const [info, ...others] = error.details;
  assert.equal(info['@type'], 'type.googleapis.com/google.rpc.ErrorInfo');
  assert.equal(info.domain, 'a2a-protocol.org');
  assert.equal(info.reason, reason, answer.text);
  const bad = others.find((detail: { '@type': string }) => detail['@type'].endsWith('.BadRequest'));
  return bad?.fieldViolations.map(({ field }: { field: string }) => field) ?? [];
}
