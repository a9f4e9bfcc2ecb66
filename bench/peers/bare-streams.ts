import { createServer, type ServerResponse } from 'node:http';
import { listen } from './listen.ts';

/*
 * What a stream costs that node:http alone holds open: one event, then a comment as often as ours has one. A call that
 * asks for no stream is answered with a task, so that the process can be as warm as the one that it is compared with.
 */

const HEARTBEAT_MS = 4_000;
const TASK = { id: '0190a5c4-7b1e-7c3d-8f2a-1b2c3d4e5f60', status: { state: 'TASK_STATE_SUBMITTED' } };

const open = new Set<ServerResponse>();

setInterval(() => {
  for (const response of open) response.write(': \n\n');
}, HEARTBEAT_MS);

listen(
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { id: unknown; method: string };
      const body = JSON.stringify({ jsonrpc: '2.0', id, result: { task: TASK } });
      if (method !== 'SubscribeToTask') {
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
        response.end(body);
        return;
      }
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache, no-transform' });
      response.write(`id: 1\ndata: ${body}\n\n`);
      open.add(response);
      response.on('close', () => open.delete(response));
    });
  }),
);
