import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const queued = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Makes a response close with its connection in any case. A client may send the next request before it has its answer;
 * Node gives the response to that one no socket until its turn comes, and lets it close by no event when the connection
 * breaks before. A response that has its socket costs nothing here.
 */
export function closeWithConnection(response: ServerResponse): void {
  if (response.socket !== null || response.destroyed) return;
  const { socket } = response.req;
  if (socket.closed) {
    close(response);
    return;
  }
  const others = queued.get(socket) ?? queueOf(socket);
  others.add(response);
  response.once('close', () => others.delete(response));
}

/** One listener for all that wait. */
function queueOf(socket: Socket): Set<ServerResponse> {
  const responses = new Set<ServerResponse>();
  queued.set(socket, responses);
  socket.once('close', () => {
    for (const response of responses) {
      // The one whose turn it is closes by itself, and one that is out is about to.
      if (response.socket === null && !response.writableFinished) close(response);
    }
  });
  return responses;
}

function close(response: ServerResponse): void {
  response.destroy();
  response.emit('close');
}
