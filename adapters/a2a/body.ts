import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../core/ports/clock.ts';

type Body =
  | { readonly bytes: Buffer }
  /** `gone`: the client has closed, nobody waits for an answer. What else comes of the others is not kept. */
  | { readonly refused: 'too-large' | 'too-slow' | 'gone' }
  /** What `holdBody` threw. */
  | { readonly refused: 'no-room'; readonly error: unknown };

/** Stays with the request for as long as its answer lasts; a closure would keep the body for that time. */
function ignore(): void {}

/** True when the declared length alone is too much. */
export function declaresTooMuch(request: IncomingMessage, maxBytes: number): boolean {
  return declaredBytes(request) > maxBytes;
}

function declaredBytes(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

/** All of the body is here. Of one that is still unread Node says so only after whoever took its request has gone on. */
export function isWhole(request: IncomingMessage): boolean {
  return request.complete || (request.readableLength > 0 && request.readableLength === declaredBytes(request));
}

/** Throws when there is no room for so many more bytes. */
interface Room {
  holdBody(bytes: number): void;
}

/**
 * The body when all of it has come with the headers, as small ones do: no listener, no timer and nothing to wait for.
 * Undefined: it has to be read.
 */
export function bodyInHand(request: IncomingMessage, maxBytes: number, room: Room): Body | undefined {
  const { readableLength: size } = request;
  if (size === 0 || size > maxBytes || !isWhole(request) || request.destroyed) return undefined;
  try {
    room.holdBody(size);
  } catch (error) {
    return { refused: 'no-room', error };
  }
  // Its end is not asked for: to come to it and to close cost a request 2 µs and a kilobyte, and nobody listens.
  const bytes: Buffer = request.read();
  return { bytes };
}

/** Reads the body, keeping no more than `maxBytes` of it in memory, and that only while there is room. */
export function readBody(
  request: IncomingMessage,
  bounds: { readonly maxBytes: number; readonly timeoutMs: number; readonly clock: Clock },
  room: Room,
): Promise<Body> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size > bounds.maxBytes) {
        settle({ refused: 'too-large' });
        return;
      }
      try {
        room.holdBody(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        settle({ refused: 'no-room', error });
      }
    };
    const complete = () => {
      const [first] = chunks;
      settle({ bytes: chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size) });
    };
    const gone = () => settle({ refused: 'gone' });
    const settle = (body: Body) => {
      cancel();
      request.off('data', take).off('end', complete).off('close', gone);
      chunks = [];
      resolve(body);
    };
    const cancel = bounds.clock.timer(bounds.timeoutMs, () => settle({ refused: 'too-slow' }));
    // Without a listener a broken upload would take the process down; `close` follows and is what counts.
    request.on('error', ignore);
    request.on('data', take).on('end', complete).on('close', gone);
    if (request.destroyed) gone();
  });
}
