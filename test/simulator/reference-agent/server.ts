/**
 * A small remote agent that keeps Jira's rules, and breaks the ones it is told to. It is what the readiness table is
 * tested with: every rule must pass on it, and each flaw must turn its rule red.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endsStream, isPolled, isTerminal, type Message } from '../../../simulator/client/a2a.ts';
import { type Caller, createVerifier, type Trust } from './caller.ts';
import { changeState, createEntry, type Entry, ownerOf, snapshot, type Update, work } from './task-book.ts';

export interface ReferenceAgentOptions extends Trust {
  readonly waitMs: number;
  readonly streamMs: number;
  /** How long a task may take. */
  readonly deadlineMs: { readonly chat: number; readonly item: number };
  readonly heartbeatMs: number;
}

const MAX_BODY_BYTES = 5 * 1024 * 1024;
const PLACEHOLDERS = new Set(['', 'request-id-missing']);

interface Rpc {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: {
    readonly id?: string;
    readonly taskId?: string;
    readonly tenant?: string;
    readonly message?: Message;
  };
}

class RpcFailure extends Error {
  readonly code: number;
  constructor(code: number) {
    super('refused');
    this.code = code;
  }
}
const refuse = (code: number): never => {
  throw new RpcFailure(code);
};

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return bytes > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks).toString('utf8');
}

export async function startReferenceAgent(
  options: ReferenceAgentOptions,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { flaws } = options;
  const verify = createVerifier(options);
  const entries = new Map<string, Entry>();
  const byMessage = new Map<string, Entry>();
  const removed = new Set<string>();

  const send = (
    response: ServerResponse,
    status: number,
    body: unknown,
    headers: Record<string, string> = {},
  ): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
  const toLine = (json: string): string =>
    flaws.has('raw-separators')
      ? json
      : json.replace(/[\u2028\u2029\u0085]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

  const find = (caller: Caller, id: string | undefined): Entry => {
    const entry = entries.get(id ?? '');
    const own = entry && (flaws.has('shared-tasks') || entry.owner === ownerOf(caller));
    return own ? entry : refuse(-32001);
  };
  const renewToken = (entry: Entry, token: string | undefined): void => {
    if (token === undefined || token === entry.token) return;
    entry.token = token;
    if (entry.state === 'TASK_STATE_AUTH_REQUIRED') void work(entry, flaws);
  };

  const accept = (caller: Caller, message: Message | undefined, token: string | undefined): Entry => {
    if (!message?.messageId || message.role !== 'ROLE_USER' || !message.parts?.length) return refuse(-32602);
    if (message.parts.some((part) => !['text', 'raw', 'url', 'data'].some((arm) => arm in part))) refuse(-32602);
    for (const { data } of message.parts) {
      const account = (data as { readonly userAccountId?: string } | undefined)?.userAccountId;
      if (account !== undefined && account !== caller.principal) refuse(-32602);
    }
    const keyed = flaws.has('placeholder-is-an-id') || !PLACEHOLDERS.has(message.messageId);
    const key = `${ownerOf(caller)} ${message.messageId}`;
    const known = keyed && !flaws.has('runs-every-send') ? byMessage.get(key) : undefined;
    if (
      known &&
      JSON.stringify(known.history[0]) !== JSON.stringify(message) &&
      keyed &&
      !PLACEHOLDERS.has(message.messageId)
    ) {
      refuse(-32602);
    }
    if (known) return known;
    if (message.taskId && !message.contextId) find(caller, message.taskId);
    const entry = createEntry(
      caller,
      flaws.has('follow-up-in-new-context') ? { ...message, contextId: '' } : message,
      token,
    );
    entries.set(entry.id, entry);
    byMessage.set(key, entry);
    setImmediate(() => void work(entry, flaws));
    if (!flaws.has('never-gives-up')) {
      const overdue = (): void => changeState(entry, 'TASK_STATE_FAILED', 'This took too long.');
      setTimeout(overdue, options.deadlineMs[entry.started]).unref();
    }
    return entry;
  };

  const settled = (entry: Entry): Promise<void> =>
    new Promise((resolve) => {
      const timer = flaws.has('waits-for-ever') ? undefined : setTimeout(finish, options.waitMs);
      function finish(): void {
        clearTimeout(timer);
        entry.listeners.delete(listen);
        resolve();
      }
      function listen(): void {
        if (!isPolled(entry.state) || entry.state === 'TASK_STATE_AUTH_REQUIRED') finish();
      }
      entry.listeners.add(listen);
      listen();
    });

  const stream = (
    response: ServerResponse,
    entry: Entry,
    call: { readonly id: unknown; readonly resumed: boolean },
  ): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    const write = (result: unknown): void =>
      void response.write(`data: ${toLine(JSON.stringify({ jsonrpc: '2.0', id: call.id, result }))}\n\n`);
    const listen = (update: Update): void => {
      write(update);
      if (endsStream(entry.state)) end();
    };
    const beat = flaws.has('silent-streams')
      ? undefined
      : setInterval(() => response.write(': beat\n\n'), options.heartbeatMs);
    const timer = setTimeout(end, options.streamMs);
    function end(): void {
      clearInterval(beat);
      clearTimeout(timer);
      entry.listeners.delete(listen);
      response.end();
    }
    response.on('close', () => {
      end();
      if (flaws.has('dies-with-its-stream')) changeState(entry, 'TASK_STATE_FAILED', 'The reader left.');
    });
    entry.listeners.add(listen);
    if (flaws.has('status-before-task') && !call.resumed) return;
    write({ task: snapshot(entry, flaws, false) });
    const { id: taskId, contextId } = entry;
    for (const [artifactId, parts] of flaws.has('resumes-without-snapshot') ? [] : entry.artifacts) {
      parts.forEach((part, index) => {
        write({ artifactUpdate: { taskId, contextId, artifact: { artifactId, parts: [part] }, append: index > 0 } });
      });
    }
    if (endsStream(entry.state)) end();
  };

  const answerRpc = async (
    response: ServerResponse,
    rpc: Rpc,
    call: { readonly caller: Caller; readonly token: string | undefined },
  ): Promise<void> => {
    const { id, params = {} } = rpc;
    const { caller, token } = call;
    const reply = (result: unknown): void => send(response, 200, { jsonrpc: '2.0', id, result });
    if (params.tenant) refuse(-32602);
    const taskId = params.id || params.taskId;
    if (rpc.method === 'SendMessage') {
      const entry = accept(caller, params.message, token);
      await settled(entry);
      return reply({ task: snapshot(entry, flaws) });
    }
    if (rpc.method === 'SendStreamingMessage')
      return stream(response, accept(caller, params.message, token), { id, resumed: false });
    if (rpc.method === 'SubscribeToTask') {
      const entry = find(caller, taskId);
      if (isTerminal(entry.state) && flaws.has('refuses-finished-subscribe')) refuse(-32004);
      renewToken(entry, token);
      return stream(response, entry, { id, resumed: true });
    }
    if (rpc.method !== 'GetTask' && rpc.method !== 'CancelTask') return refuse(-32601);
    const entry = find(caller, taskId);
    if (rpc.method === 'GetTask') renewToken(entry, token);
    else if (isTerminal(entry.state) && entry.state !== 'TASK_STATE_CANCELED') refuse(-32002);
    else changeState(entry, 'TASK_STATE_CANCELED', 'Canceled.');
    reply(snapshot(entry, flaws));
  };

  const handleRpc = async (request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void> => {
    const body = await readBody(request);
    let rpc: Rpc = {};
    try {
      if (body === undefined) refuse(-32600);
      try {
        rpc = JSON.parse(body ?? '') as Rpc;
      } catch {
        refuse(-32700);
      }
      if (Array.isArray(rpc)) refuse(-32600);
      const token = request.headers['x-forge-oauth-user'];
      await answerRpc(response, rpc, { caller, token: typeof token === 'string' ? token : undefined });
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      const status = flaws.has('http-status-errors') ? 400 : 200;
      send(response, status, {
        jsonrpc: '2.0',
        id: rpc.id ?? null,
        error: { code: error.code, message: error.message },
      });
    }
  };

  const server = createServer({ maxHeaderSize: 65_536 }, async (request, response) => {
    const path = request.url ?? '';
    if (flaws.has('redirects-slash') && path.endsWith('/'))
      return void response.writeHead(308, { location: path.slice(0, -1) }).end();
    const caller = await verify(request.headers.authorization);
    const gone = 'tenant' in caller && removed.has(caller.tenant) && !path.startsWith('/rovo/lifecycle');
    if ('status' in caller || gone || (!path.startsWith('/rovo/a2a') && caller.moduleType.startsWith('jira:'))) {
      const status = 'status' in caller ? caller.status : 401;
      request.resume();
      return send(
        response,
        status,
        { error: 'unauthorized' },
        status === 503 ? { 'retry-after': '30' } : { 'www-authenticate': 'Bearer' },
      );
    }
    if (path.startsWith('/rovo/a2a')) return handleRpc(request, response, caller);
    await readBody(request);
    if (path.startsWith('/rovo/pre-uninstall') && !flaws.has('forgets-removal')) removed.add(caller.tenant);
    send(response, 200, {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rovo/a2a`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
