import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpServer {
  readonly port: number;
  /** `http://127.0.0.1:<port>`, no slash at the end. */
  readonly origin: string;
  close(): Promise<void>;
}

/** Listens on loopback only: everything here hands out tokens to whoever asks. Port 0 takes any free one. */
export async function listenOnLoopback(handler: RequestListener, port = 0): Promise<HttpServer> {
  const server = createServer({ maxHeaderSize: 65_536 }, handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    origin: `http://127.0.0.1:${bound}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
