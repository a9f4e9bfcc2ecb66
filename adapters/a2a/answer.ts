import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { Clock } from '../../core/ports/clock.ts';

export interface JsonAnswer {
  readonly status: number;
  readonly json: string;
  readonly headers?: Record<string, string>;
  /** Content-Type, JSON in UTF-8 unless said. */
  readonly type?: string;
}

/**
 * Answers with JSON. When the body has not come in whole, the connection cannot be used again: it is announced as
 * closing, but closed only after what is on its way has been thrown away (or `lingerMs` have passed), because closing a
 * socket with unread data resets it and the client may never see the answer.
 */
export async function answerJson(
  context: Context,
  answer: JsonAnswer,
  linger: { readonly clock: Clock; readonly ms: number },
): Promise<void> {
  const { req: request, res: response } = context;
  const type = answer.type ?? 'application/json; charset=utf-8';
  context.set({ 'Cache-Control': 'no-store', ...answer.headers, 'Content-Type': type });
  if (request.complete) {
    context.status = answer.status;
    context.body = answer.json;
    return;
  }
  context.respond = false;
  response.on('error', () => undefined);
  response.writeHead(answer.status, {
    'Content-Length': Buffer.byteLength(answer.json),
    Connection: 'close',
  });
  response.write(answer.json);
  await new Promise<void>((resolve) => {
    const done = () => {
      cancel();
      resolve();
    };
    const cancel = linger.clock.timer(linger.ms, done);
    request.once('end', done).once('close', done).resume();
  });
  response.end();
}

/**
 * Calls back once, when the client has all of the answer or is gone. After `ms` its connection is cut: a response behind
 * another one has none of its own to cut.
 */
export function whenTaken(
  response: ServerResponse,
  bound: { readonly clock: Clock; readonly ms: number },
  taken: () => void,
): void {
  if (response.writableFinished || response.destroyed) {
    taken();
    return;
  }
  const settle = () => {
    cancel();
    response.off('close', settle);
    taken();
  };
  const cancel = bound.clock.timer(bound.ms, () => {
    response.req.socket.destroy();
    settle();
  });
  response.once('close', settle);
}
