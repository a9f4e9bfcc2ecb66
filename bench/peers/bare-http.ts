import { createServer } from 'node:http';
import { listen } from './listen.ts';

/* The limit of the machine: node:http that reads the body, parses it and answers a task of the usual size. */

const TASK = {
  id: '0190a5c4-7b1e-7c3d-8f2a-1b2c3d4e5f60',
  contextId: '0190a5c4-7b1e-7c3d-8f2a-1b2c3d4e5f61',
  status: {
    state: 'TASK_STATE_COMPLETED',
    message: {
      messageId: '0190a5c4-7b1e-7c3d-8f2a-1b2c3d4e5f62',
      contextId: '0190a5c4-7b1e-7c3d-8f2a-1b2c3d4e5f61',
      taskId: '0190a5c4-7b1e-7c3d-8f2a-1b2c3d4e5f60',
      role: 'ROLE_AGENT',
      parts: [{ text: 'echo: hello' }],
    },
    timestamp: '2026-01-01T00:00:00.000Z',
  },
  history: [
    {
      messageId: 'm-000000000000-0',
      contextId: '0190a5c4-7b1e-7c3d-8f2a-1b2c3d4e5f61',
      taskId: '0190a5c4-7b1e-7c3d-8f2a-1b2c3d4e5f60',
      role: 'ROLE_USER',
      parts: [{ text: 'hello' }],
    },
  ],
};

listen(
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { id: unknown; method: string };
      const result = method === 'GetTask' ? TASK : { task: TASK };
      const body = JSON.stringify({ jsonrpc: '2.0', id, result });
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
      response.end(body);
    });
  }),
);
