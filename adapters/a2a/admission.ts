import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../core/errors.ts';
import type { JsonAnswer } from './answer.ts';
import { declaresTooMuch } from './body.ts';
import type { Edge, Session } from './edge.ts';
import { httpRefusal, protocolError, type RpcError, rpcError } from './error-table.ts';

/*
 * What is decided from the headers alone. A refusal here is an HTTP status with a JSON-RPC error as its body, and
 * nothing of the request's body has been read for it.
 */

type Admission =
  | { readonly session: Session }
  /** `error`: what the edge threw. */
  | { readonly refused: JsonAnswer; readonly error?: unknown };

export async function admit(
  request: IncomingMessage,
  options: { readonly edge: Edge; readonly maxBodyBytes: number; readonly overloaded: boolean },
): Promise<Admission> {
  const { edge, maxBodyBytes } = options;
  if (request.method !== 'POST') {
    return refuse(405, protocolError('INVALID_REQUEST', 'JSON-RPC calls are POST requests'), { Allow: 'POST' });
  }
  if (options.overloaded) {
    const error = new DomainError('OVERLOADED', 'The service takes no calls at the moment');
    return refuse(503, rpcError(error), httpRefusal(error).headers);
  }
  if (declaresTooMuch(request, maxBodyBytes)) return refuse(413, bodyTooLarge(maxBodyBytes));
  try {
    // Node keeps the first of several, a proxy in front may have looked at another one.
    if (occurrences(request, 'authorization') > 1) {
      throw new DomainError('UNAUTHENTICATED', 'More than one Authorization header');
    }
    const address = request.socket.remoteAddress;
    return { session: await edge.authenticate(request.headers, address === undefined ? {} : { address }) };
  } catch (error) {
    const { status, headers } = httpRefusal(error);
    const challenge = status === 401 ? { 'WWW-Authenticate': challengeOf(edge, request) } : {};
    return { ...refuse(status, rpcError(error), { ...headers, ...challenge }), error };
  }
}

export function bodyTooLarge(maxBodyBytes: number): RpcError {
  return protocolError('INVALID_REQUEST', `The body is larger than ${maxBodyBytes} bytes`);
}

/** An answer to a request whose id is not known. */
export function anonymousError(error: RpcError): string {
  return JSON.stringify({ jsonrpc: '2.0', id: null, error });
}

function refuse(
  status: number,
  error: RpcError,
  headers: Record<string, string> = {},
): { readonly refused: JsonAnswer } {
  return { refused: { status, json: anonymousError(error), headers } };
}

function occurrences(request: IncomingMessage, name: string): number {
  return request.rawHeaders.filter((header, index) => index % 2 === 0 && header.toLowerCase() === name).length;
}

/** RFC 6750, 3.1: no error code for a call that brought no token. */
function challengeOf(edge: Edge, request: IncomingMessage): string {
  const realm = `Bearer realm="${edge.name}"`;
  return request.headers.authorization === undefined ? realm : `${realm}, error="invalid_token"`;
}
