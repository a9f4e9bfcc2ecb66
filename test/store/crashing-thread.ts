import { parentPort, workerData } from 'node:worker_threads';
import { serveStore } from '../../adapters/sqlite/serve-store.ts';
import { systemClock } from '../../src/system-clock.ts';

/* A store's thread that has a fault of its own, soon after it has begun. */

const { path } = workerData as { readonly path: string };
if (!parentPort) throw new Error('this is the program of a worker thread');
await serveStore(parentPort, { path, clock: systemClock });
setImmediate(() => {
  throw new Error("a fault in the store's thread");
});
