import type { Atlassian } from '../atlassian.ts';
import { exchange, readText } from '../client/exchange.ts';
import { type HttpServer, listenOnLoopback } from '../http-server.ts';
import { isObject, parseJson } from '../json.ts';
import { readArguments, UsageError } from './arguments.ts';
import { runCommand } from './conversation.ts';

/**
 * How a command reaches the simulator that serves, whose keys the agent trusts: the command line goes over as JSON, the
 * conversation comes back line by line, the last line says how it ended. The content type keeps web pages out.
 */
const CONTENT_TYPE = 'application/x-simulator-command+json';
const DONE = '\u0000done';
const FAILED = '\u0000failed';

export async function startControl(atlassian: Atlassian, port: number): Promise<HttpServer> {
  return listenOnLoopback(async (request, response) => {
    if (request.method !== 'POST' || request.headers['content-type'] !== CONTENT_TYPE) {
      response.writeHead(415).end();
      return;
    }
    const argv = parseJson(await readText(request));
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    const print = (line: string): void => void response.write(`${line}\n`);
    try {
      const words = isObject(argv) && Array.isArray(argv.argv) ? argv.argv.map(String) : [];
      const ok = await runCommand(atlassian, readArguments(words), print);
      response.end(ok ? DONE : FAILED);
    } catch (error) {
      const hint = error instanceof UsageError ? '' : ' (is the agent running, and does --url name it?)';
      print(`${error instanceof Error ? error.message : String(error)}${hint}`);
      response.end(FAILED);
    }
  }, port);
}

export class NotServing extends Error {}

/** Sends a command line to the simulator that serves and prints what comes back. */
export async function sendCommand(
  argv: readonly string[],
  controlPort: number,
  write: (text: string) => void,
): Promise<boolean> {
  const answer = await exchange({
    method: 'POST',
    url: `http://127.0.0.1:${controlPort}/`,
    headers: { 'content-type': CONTENT_TYPE },
    body: JSON.stringify({ argv }),
  }).catch((error: unknown) => {
    throw new NotServing('the simulator is not running: start it with `npm run simulator`', { cause: error });
  });
  answer.body.setEncoding('utf8');
  let tail = '';
  for await (const chunk of answer.body) {
    tail += String(chunk);
    const marker = tail.indexOf('\u0000');
    write(marker < 0 ? tail : tail.slice(0, marker));
    tail = marker < 0 ? '' : tail.slice(marker);
  }
  return tail === DONE;
}
