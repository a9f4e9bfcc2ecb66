import { parentPort, workerData } from 'node:worker_threads';
import { serveStore } from '../adapters/sqlite/serve-store.ts';
import { systemClock } from './system-clock.ts';

/* The store's thread: the program of a worker thread, started by src/compose.ts. */

if (!parentPort) throw new Error('this is the program of a worker thread');
const { path } = workerData as { readonly path: string };
await serveStore(parentPort, { path, clock: systemClock });
