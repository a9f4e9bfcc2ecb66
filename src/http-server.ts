import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartError } from './start-error.ts';

/** A bearer token and two OAuth headers of Atlassian's proxy can pass Node's 16 KB. */
const MAX_HEADER_BYTES = 65_536;

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

export function createHttpServer(listener: RequestListener): HttpServer {
  const server: Server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      // Else Node drops a second Authorization before anybody could refuse it.
      joinDuplicateHeaders: true,
      headersTimeout: 20_000,
      requestTimeout: 120_000,
      // Longer than the idle time of common load balancers, so that they close first.
      keepAliveTimeout: 75_000,
    },
    listener,
  );
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
