import type { World } from '../e2e/world.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
  readonly json: any;
}

export interface HttpChanges {
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
}

/** Somebody who calls the shipped service at `/a2a` in both bindings. */
export interface Person {
  /** `METHOD /path` below `/a2a/v1`. */
  rest(line: string, changes?: HttpChanges): Promise<HttpAnswer>;
  /** JSON-RPC. */
  rpc(method: string, params: unknown, headers?: Readonly<Record<string, string>>): Promise<HttpAnswer>;
}

/** `subject`: null calls without a token. */
export async function personAt(world: World, subject: string | null): Promise<Person> {
  const { origin } = world.service();
  const token: Record<string, string> =
    subject === null ? {} : { Authorization: `Bearer ${await world.issuer.token(subject)}` };

  async function ask(url: string, method: string, { headers, body }: HttpChanges): Promise<HttpAnswer> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(url, {
      method,
      headers: {
        'A2A-Version': '1.0',
        ...token,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: text ?? null,
    });
    const answer = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const { status } = response;
    return { status, headers: response.headers, text: answer, json: isJson ? JSON.parse(answer) : undefined };
  }

  return {
    rest: (line, changes = {}) => {
      const [method = '', path = ''] = line.split(' ');
      return ask(`${origin}/a2a/v1${path}`, method, changes);
    },
    rpc: (method, params, headers = {}) =>
      ask(`${origin}/a2a`, 'POST', { headers, body: { jsonrpc: '2.0', id: 1, method, params } }),
  };
}
