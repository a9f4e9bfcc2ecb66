import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../support/until.ts';

export interface OutsideCall {
  readonly taskId: string;
  /** Process id of the service that the agent ran in. */
  readonly worker: number;
  readonly idempotencyKey: string | undefined;
}

/** Something outside of the service that the scripted agent calls, with a door that a test opens. */
export interface Place {
  readonly name: string;
  readonly calls: readonly OutsideCall[];
  /** Resolves when it was called that often. */
  reached(times?: number): Promise<OutsideCall>;
  /** Resolves when so many callers have gone away without an answer. */
  left(times?: number): Promise<void>;
  /** Answers who waits and whoever comes later. */
  open(): void;
}

export interface Outside {
  readonly url: string;
  /** Calls to a closed place wait for `open`. */
  place(options?: { readonly closed?: boolean }): Place;
  close(): Promise<void>;
}

export async function startOutside(): Promise<Outside> {
  const doors = new Map<string, (response: ServerResponse, call: OutsideCall) => void>();
  const server = createServer((request, response) => {
    request.resume();
    const header = (name: string) => request.headers[name] as string | undefined;
    doors.get(request.url?.slice(1) ?? '')?.(response, {
      taskId: header('x-task') ?? '',
      worker: Number(header('x-worker')),
      idempotencyKey: header('idempotency-key'),
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    place({ closed = false } = {}) {
      const name = randomUUID();
      const calls: OutsideCall[] = [];
      const waiting: ServerResponse[] = [];
      let isOpen = !closed;
      let left = 0;
      doors.set(name, (response, call) => {
        calls.push(call);
        if (isOpen) response.end('done');
        else waiting.push(response);
        response.once('close', () => {
          if (!response.writableEnded) left += 1;
        });
      });
      return {
        name,
        calls,
        reached: (times = 1) => until(`the agent came ${times} times`, () => calls.length >= times && calls[times - 1]),
        left: async (times = 1) => void (await until(`the agent left ${times} times`, () => left >= times)),
        open() {
          isOpen = true;
          for (const response of waiting.splice(0)) response.end('done');
        },
      };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
