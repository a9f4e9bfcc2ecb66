import { type HttpServer, listenOnLoopback } from '../http-server.ts';
import type { KeyRing } from './key-ring.ts';

/** What a verifier meets: an answer, a 503, a connection that dies, or silence. */
export type Outage = 'none' | 'error' | 'refuse' | 'hang';

export interface JwksEndpoint {
  readonly url: string;
  outage(kind: Outage): void;
  /** How often the key set was asked for, whatever the answer was. */
  requests(): number;
  close(): Promise<void>;
}

const PATH = '/.well-known/jwks.json';

export async function startJwksEndpoint(keyRing: KeyRing, port = 0): Promise<JwksEndpoint> {
  let outage: Outage = 'none';
  let requests = 0;
  const server: HttpServer = await listenOnLoopback((request, response) => {
    if (request.url?.split('?')[0] !== PATH) {
      response.writeHead(404).end();
      return;
    }
    requests += 1;
    if (outage === 'refuse') request.socket.destroy();
    else if (outage === 'error') response.writeHead(503).end();
    else if (outage === 'none') {
      response
        .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' })
        .end(JSON.stringify(keyRing.jwks()));
    }
  }, port);
  return {
    url: server.origin + PATH,
    outage(kind) {
      outage = kind;
    },
    requests: () => requests,
    close: () => server.close(),
  };
}
