import { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../core/ports/clock.ts';
import { isWhole } from './body.ts';
import type { Http } from './http.ts';
import type { Place } from './load-gate.ts';

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
 * socket with unread data resets it and the client may never see the answer. Undefined: there is nothing to wait for.
 */
export function answerJson(
  { request, response, bodyCame }: Http,
  { status, json, headers, type = 'application/json; charset=utf-8' }: JsonAnswer,
  linger: { readonly clock: Clock; readonly ms: number },
): Promise<void> | undefined {
  // Names and values in turn go out as they are, where an object would be looked through.
  const fields = ['Cache-Control', 'no-store', 'Content-Type', type, 'Content-Length', `${Buffer.byteLength(json)}`];
  if (headers !== undefined) for (const [name, value] of Object.entries(headers)) fields.push(name, value);
  if (bodyCame || isWhole(request)) {
    response.writeHead(status, fields).end(json);
    return undefined;
  }
  fields.push('Connection', 'close');
  response.on('error', () => undefined);
  response.writeHead(status, fields).write(json);
  return drained(request, linger).then(() => {
    response.end();
  });
}

/** All of the body has come, or no more will, or it took too long. */
function drained(
  request: IncomingMessage,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      resolve();
    };
    const cancel = clock.timer(ms, done);
    request.once('end', done).once('close', done).resume();
  });
}

/**
 * Gives the place free when the client has all of the answer or is gone. After `ms` its connection is cut: a response
 * behind another one has none of its own to cut.
 */
export function whenTaken(
  response: ServerResponse,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
  place: Pick<Place, 'leave'>,
): void {
  if (response.writableFinished || response.destroyed) {
    place.leave();
    return;
  }
  const settle = () => {
    cancel();
    response.off('close', settle);
    place.leave();
  };
  const cancel = clock.timer(ms, () => {
    response.req.socket.destroy();
    settle();
  });
  response.on('close', settle);
}
