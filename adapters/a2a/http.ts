import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Takes a request that is for it, and answers undefined when its path is somebody else's. Resolves when the answer is on
 * its way or its stream open, and rejects only when not even an error could be answered.
 */
export type HttpEndpoint = (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined;

/** A request and what it is answered with. */
export interface Http {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** All of the body was read. */
  bodyCame: boolean;
}
