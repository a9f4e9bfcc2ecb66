import type { Atlassian } from '../atlassian.ts';
import { exchange, readText } from '../client/exchange.ts';
import { connectionFault } from '../client/polling.ts';
import { type HttpServer, listenOnLoopback } from '../http-server.ts';
import { isObject, parseJson } from '../json.ts';
import { type Defaults, readArguments, UsageError } from './arguments.ts';
import { runCommand } from './conversation.ts';

/**
 * How a command reaches the simulator that serves, whose keys the agent trusts: the command line goes over as JSON, the
 * conversation comes back line by line, the last line says how it ended. Who hangs up has given up: what the command
 * still waits for is dropped. The content type keeps web pages out.
 */
const CONTENT_TYPE = 'application/x-simulator-command+json';
const ENDS = { done: '\u0000done', failed: '\u0000failed', usage: '\u0000usage' } as const;

/** `defaults` hold for what a command line leaves out. */
export async function startControl(
  atlassian: Atlassian,
  options: { readonly port: number; readonly defaults: Defaults },
): Promise<HttpServer> {
  return listenOnLoopback(async (request, response) => {
    if (request.method !== 'POST' || request.headers['content-type'] !== CONTENT_TYPE) {
      response.writeHead(415).end();
      return;
    }
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const argv = parseJson(await readText(request).catch(() => ''));
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    const print = (line: string): void => {
      if (!gone.signal.aborted) response.write(`${line}\n`);
    };
    try {
      const words = isObject(argv) && Array.isArray(argv.argv) ? argv.argv.map(String) : [];
      const args = readArguments(words, options.defaults);
      const defaultUrl = options.defaults.url;
      const ok = await runCommand(atlassian, args, {
        print,
        signal: gone.signal,
        ...(defaultUrl === undefined ? {} : { defaultUrl }),
      });
      response.end(ok ? ENDS.done : ENDS.failed);
    } catch (error) {
      const fault = connectionFault(error);
      const hint = fault === undefined ? '' : ' (is the agent running, and does --url name it?)';
      // Several addresses of one host that all refuse make an error without a text.
      print(`${error instanceof Error ? error.message || fault : String(error)}${hint}`);
      response.end(error instanceof UsageError ? ENDS.usage : ENDS.failed);
    }
  }, options.port);
}

export class NotServing extends Error {}

export interface SendOptions {
  readonly controlPort: number;
  readonly signal: AbortSignal;
  readonly write: (text: string) => void;
}

/** Sends a command line to the simulator that serves and prints what comes back. Rejects when the signal fires. */
export async function sendCommand(argv: readonly string[], options: SendOptions): Promise<keyof typeof ENDS> {
  const { controlPort, signal, write } = options;
  const answer = await exchange({
    method: 'POST',
    url: `http://127.0.0.1:${controlPort}/`,
    headers: { 'content-type': CONTENT_TYPE },
    body: JSON.stringify({ argv }),
    signal,
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    const port = `nothing listens on control port ${controlPort}`;
    throw new NotServing(`the simulator is not running (${port}): start it with npm run simulator`, { cause: error });
  });
  answer.body.setEncoding('utf8');
  let tail = '';
  for await (const chunk of answer.body) {
    tail += String(chunk);
    const marker = tail.indexOf('\u0000');
    write(marker < 0 ? tail : tail.slice(0, marker));
    tail = marker < 0 ? '' : tail.slice(marker);
  }
  return tail === ENDS.done ? 'done' : tail === ENDS.usage ? 'usage' : 'failed';
}
