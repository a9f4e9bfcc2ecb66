import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isObject, parseJson } from '../../simulator/json.ts';

/*
 * Agents that do nothing, politely: whatever they pass of the readiness table says nothing about them. They look at no
 * token and ask nobody.
 */

export type IdleAgent = 'unknown' | 'failed';

interface Answer {
  readonly json: unknown;
  readonly stream?: boolean;
}

const NOT_FOUND = { code: -32001, message: 'Task not found' };

/** `unknown`: every call is -32001. `failed`: every message is a task that FAILED, streamed when asked for. */
function createAnswers(kind: IdleAgent): (rpc: Readonly<Record<string, unknown>>) => Answer {
  const tasks = new Map<string, object>();
  const newTask = (params: Readonly<Record<string, unknown>>) => {
    const message = isObject(params.message) ? params.message : {};
    const ids = { taskId: randomUUID(), contextId: String(message.contextId || randomUUID()) };
    const said = { messageId: randomUUID(), role: 'ROLE_AGENT', parts: [{ text: 'No.' }], ...ids };
    const status = { state: 'TASK_STATE_FAILED', timestamp: new Date().toISOString(), message: said };
    const task = { id: ids.taskId, contextId: ids.contextId, status };
    tasks.set(task.id, task);
    return task;
  };
  return ({ id = null, method, params }) => {
    const given = isObject(params) ? params : {};
    const result = (value: unknown, stream = false) => ({ json: { jsonrpc: '2.0', id, result: value }, stream });
    const task = tasks.get(String(given.id || given.taskId));
    if (kind === 'failed') {
      if (method === 'SendMessage') return result({ task: newTask(given) });
      if (method === 'SendStreamingMessage') return result({ task: newTask(given) }, true);
      if (method === 'SubscribeToTask' && task) return result({ task }, true);
      if (method === 'GetTask' && task) return result(task);
      if (method === 'CancelTask' && task) {
        return { json: { jsonrpc: '2.0', id, error: { code: -32002, message: 'Task cannot be canceled' } } };
      }
    }
    return { json: { jsonrpc: '2.0', id, error: NOT_FOUND } };
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

export async function startIdleAgent(kind: IdleAgent): Promise<{ readonly url: string; close(): Promise<void> }> {
  const answerTo = createAnswers(kind);
  const server = createServer(async (request, response) => {
    const rpc = parseJson(await textOf(request));
    const { json, stream = false } = answerTo(isObject(rpc) ? rpc : {});
    if (!stream) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    response.end(`data: ${JSON.stringify(json)}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rovo/a2a`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
