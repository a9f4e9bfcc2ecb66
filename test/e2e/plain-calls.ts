import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, request } from 'node:http';

/** What an answer may hold, for tests that look at single members of it. */
interface PlainJson {
  readonly id?: unknown;
  readonly result?: {
    readonly kind?: string;
    readonly task?: { readonly id: string; readonly status: { readonly state: string } };
  };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Undefined when the text is no JSON. */
  readonly json: PlainJson | undefined;
}

export interface PlainCall {
  readonly method: string;
  readonly params?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One JSON-RPC call with exactly these headers beside the ones that HTTP needs. */
export function plainCall(url: string, { method, params, headers = {} }: PlainCall): Promise<PlainAnswer> {
  return plainPost(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), headers);
}

export function plainPost(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        agent: false,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
      },
      async (response) => {
        response.setEncoding('utf8');
        let text = '';
        for await (const chunk of response) text += String(chunk);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
      },
    );
    sent.on('error', reject).end(body);
  });
}

function parsed(text: string): PlainJson | undefined {
  try {
    return JSON.parse(text) as PlainJson;
  } catch {
    return undefined;
  }
}

/** Params of A2A 0.3. */
export function legacyMessage(text: string) {
  return { message: { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text }] } };
}
