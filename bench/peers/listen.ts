import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on any free port of loopback and tells whoever started this process which. */
export function listen(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
  });
  process.on('SIGTERM', () => process.exit(0));
}
