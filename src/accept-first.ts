import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';

/**
 * Turns of the event loop for which requests wait at most, so that whoever connects all the time delays nobody for long.
 * Figures for other numbers are in docs/performance.md.
 */
const HELD_TURNS_MAX = 8;

/**
 * Takes in everybody who knocks before it goes on with requests. libuv accepts one connection for each turn of the event
 * loop, and with many busy callers a turn takes tens of milliseconds: the fiftieth of fifty new callers would wait for
 * seconds. So from one accepted connection on, until a turn of the loop accepts none, the requests that come are held
 * back, and such a turn is short. They keep their order.
 */
export function acceptFirst(server: Server, listener: RequestListener): void {
  let held: (readonly [IncomingMessage, ServerResponse])[] = [];
  let holding = false;
  let accepted = false;
  let turns = 0;

  function turn(): void {
    turns += 1;
    if (accepted && turns < HELD_TURNS_MAX) {
      accepted = false;
      setImmediate(turn);
      return;
    }
    holding = false;
    const begun = held;
    held = [];
    for (const [request, response] of begun) listener(request, response);
  }

  server.on('connection', () => {
    accepted = true;
    if (holding) return;
    holding = true;
    turns = 0;
    setImmediate(turn);
  });
  server.on('request', (request, response) => {
    if (holding) held.push([request, response]);
    else listener(request, response);
  });
}
