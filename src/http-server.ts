import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { acceptFirst } from './accept-first.ts';
import { StartError } from './start-error.ts';

/** A bearer token and two OAuth headers of Atlassian's proxy can pass Node's 16 KB. */
const MAX_HEADER_BYTES = 65_536;

/** Connections above the bound that are told so; what comes above these is closed without a word. */
const TOLD_MAX = 1_000;
/** How long one of them may take for its request. */
const TOLD_MS = 2_000;
const TOLD_HEADERS = { 'Content-Type': 'application/json; charset=utf-8', 'Retry-After': '1', Connection: 'close' };

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly setting: 'PORT' | 'OPS_PORT' | 'GRPC_PORT';
}

/** `error`: what the system said. */
export function cannotListen({ host, port, setting }: ListenAddress, error: Error): StartError {
  const advice = /EADDRINUSE|EACCES/.test(error.message)
    ? `set ${setting} to another, or end the program that has it`
    : 'look at HOST';
  return new StartError(`${setting}: cannot listen on ${host}:${port} (${error.message}); ${advice}`, { cause: error });
}

export interface HttpServer {
  /** `setting` names the variable that the port comes from, for a refusal. Rejects with StartError. */
  listen(address: ListenAddress): Promise<AddressInfo>;
  /** Takes no new connection and lets go of idle ones. */
  refuse(): void;
  /** Resolves when the last connection is closed; those that are open after `graceMs` are cut. */
  close(graceMs: number): Promise<void>;
}

export interface ConnectionBound {
  readonly max: number;
  /** A connection above it was refused. */
  readonly refused: () => void;
}

/**
 * Connections above the bound get a 503 for their first request and are closed. `/livez` answers on them all the same: a
 * supervisor must not restart what is only busy.
 */
export function createHttpServer(listener: RequestListener, bound?: ConnectionBound): HttpServer {
  const surplus = new WeakSet<Socket>();
  const listen = (request: IncomingMessage, response: ServerResponse): void => {
    if (!surplus.has(request.socket)) {
      listener(request, response);
    } else if (request.url === '/livez') {
      response.shouldKeepAlive = false;
      listener(request, response);
    } else {
      response.writeHead(503, TOLD_HEADERS).end('{"error":"Too many connections"}');
      request.resume();
    }
  };
  const server: Server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    // Else Node drops a second Authorization before anybody could refuse it.
    joinDuplicateHeaders: true,
    headersTimeout: 20_000,
    requestTimeout: 120_000,
    // Longer than the idle time of common load balancers, so that they close first.
    keepAliveTimeout: 75_000,
  });
  acceptFirst(server, listen);
  if (bound) boundConnections(server, bound, surplus);
  let closed: Promise<void> | undefined;
  const refuse = (): Promise<void> => {
    closed ??= new Promise((resolve) => {
      server.close(() => resolve());
    });
    server.closeIdleConnections();
    return closed;
  };
  return {
    listen: ({ host, port, setting }) =>
      new Promise((resolve, reject) => {
        const failed = (error: Error): void => reject(cannotListen({ host, port, setting }, error));
        server.once('error', failed);
        server.listen(port, host, () => {
          server.off('error', failed);
          resolve(server.address() as AddressInfo);
        });
      }),
    refuse: () => void refuse(),
    close: async (graceMs) => {
      const all = refuse();
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await all;
      clearTimeout(cut);
    },
  };
}

function boundConnections(server: Server, { max, refused }: ConnectionBound, surplus: WeakSet<Socket>): void {
  let open = 0;
  server.maxConnections = max + TOLD_MAX;
  server.on('drop', refused);
  server.on('connection', (socket: Socket) => {
    open += 1;
    socket.once('close', () => {
      open -= 1;
    });
    if (open <= max) return;
    surplus.add(socket);
    refused();
    const cut = setTimeout(() => socket.destroy(), TOLD_MS);
    socket.once('close', () => clearTimeout(cut));
  });
}
