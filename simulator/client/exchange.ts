import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

/**
 * One HTTP exchange on its own connection. node:http rather than fetch: an answer that comes before the whole body was
 * sent must be readable (a body that is refused for its size), redirects must not be followed, and a connection must
 * die exactly when a test says so.
 */
export interface Exchange {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: IncomingMessage;
  /** Kills the connection. */
  destroy(): void;
}

export interface ExchangeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly signal?: AbortSignal;
}

export function exchange(ask: ExchangeRequest): Promise<Exchange> {
  const url = new URL(ask.url);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    let answered = false;
    const request = send(url, {
      method: ask.method,
      agent: false,
      headers: { ...ask.headers, 'content-length': String(Buffer.byteLength(ask.body)) },
      ...(ask.signal ? { signal: ask.signal } : {}),
    });
    request.on('response', (response) => {
      answered = true;
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: response,
        destroy: () => request.destroy(),
      });
    });
    request.on('error', (error) => {
      if (!answered) reject(error);
    });
    request.end(ask.body);
  });
}

const MAX_ANSWER_CHARS = 64 * 1024 * 1024;

export async function readText(body: IncomingMessage): Promise<string> {
  body.setEncoding('utf8');
  let text = '';
  for await (const chunk of body) {
    text += String(chunk);
    if (text.length > MAX_ANSWER_CHARS) throw new Error('the answer is over 64 MB');
  }
  return text;
}
