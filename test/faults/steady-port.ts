import { once } from 'node:events';
import { createServer } from 'node:net';

/*
 * A port for a service that is killed and comes back to where its callers look for it. Not one that the system hands
 * out: while nobody listens there, it could give the same one to somebody else, even to a caller for its own end.
 */
const FIRST = 12_000;
const LAST = 30_000;

/** A port below those that systems hand out, on which nobody listens now. */
export async function steadyPort(): Promise<string> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    const server = createServer().listen(port, '127.0.0.1');
    const taken = await Promise.race([
      once(server, 'listening').then(() => false),
      once(server, 'error').then(() => true),
    ]).catch(() => true);
    if (taken) continue;
    server.close();
    await once(server, 'close');
    return String(port);
  }
}
