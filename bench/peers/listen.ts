import type { Server } from 'node:http';

/** Listens on HOST and PORT of the environment. */
export function listen(server: Server): void {
  server.listen(Number(process.env.PORT), process.env.HOST);
  process.on('SIGTERM', () => process.exit(0));
}
