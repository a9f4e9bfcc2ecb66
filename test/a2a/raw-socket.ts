import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface RawSocket {
  readonly socket: Socket;
  /** Everything that came so far, as UTF-8. */
  received(): string;
  /** Resolves as soon as what came matches. Rejects when the socket closes without it. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves when the other side has closed. */
  closed(): Promise<void>;
}

export async function openRaw(context: TestContext, port: number): Promise<RawSocket> {
  const socket = connect({ port, host: '127.0.0.1' });
  let text = '';
  let isClosed = false;
  const looks = new Set<() => void>();
  const look = () => {
    for (const each of looks) each();
  };
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
    look();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
    look();
  });
  context.after(() => socket.destroy());
  await once(socket, 'connect');
  return {
    socket,
    received: () => text,
    until: (pattern) =>
      wait((done, fail) => {
        if (pattern.test(text)) done(text);
        else if (isClosed) fail(new Error(`closed without ${pattern}: ${text.slice(0, 2_000)}`));
      }),
    closed: () => wait((done) => isClosed && done(undefined)),
  };

  function wait<T>(check: (done: (value: T) => void, fail: (error: Error) => void) => unknown): Promise<T> {
    return new Promise((resolve, reject) => {
      const each = () => check(settle(resolve), settle(reject));
      const settle =
        <V>(end: (value: V) => void) =>
        (value: V) => {
          looks.delete(each);
          end(value);
        };
      looks.add(each);
      each();
    });
  }
}

/** Headers of a JSON-RPC request in 1.0; the body, if any, is the caller's to send. */
export function head(extra: readonly string[] = [], path = '/a2a'): string {
  return [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    'A2A-Version: 1.0',
    ...extra,
    '',
    '',
  ].join('\r\n');
}

/** A whole request. */
export function whole(body: string, extra: readonly string[] = []): string {
  return head([`Content-Length: ${Buffer.byteLength(body)}`, ...extra]) + body;
}
