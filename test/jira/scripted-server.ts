import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A canned answer, or a function that writes one. */
export type Scripted =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  | ((request: IncomingMessage, response: ServerResponse) => void);

export interface ScriptedServer {
  readonly origin: string;
  /** `METHOD path?query`, in order. */
  readonly asked: readonly string[];
  readonly tokens: readonly (string | undefined)[];
  /** One answer per request, in order; the last one is repeated. */
  play(...script: readonly [Scripted, ...Scripted[]]): void;
  close(): Promise<void>;
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const asked: string[] = [];
  const tokens: (string | undefined)[] = [];
  let script: readonly Scripted[] = [{ status: 500 }];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    tokens.push(request.headers.authorization);
    const [next, ...rest] = script;
    if (rest.length > 0) script = rest;
    if (typeof next === 'function') next(request, response);
    else {
      response.writeHead(next?.status ?? 500, { 'content-type': 'application/json', ...next?.headers });
      response.end(JSON.stringify(next?.body ?? {}));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    tokens,
    play(...answers) {
      asked.length = 0;
      tokens.length = 0;
      script = answers;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
