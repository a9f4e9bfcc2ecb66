import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { DomainError, isDomainError } from '../../core/errors.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { declaresTooMuch } from './body.ts';
import type { Edge, Session } from './edge.ts';
import { protocolError, severityOf, type WireError, wireError } from './error-table.ts';
import { traceOf } from './trace.ts';

/*
 * What is decided from the headers alone. A refusal here is an HTTP status with the binding's error as its body (or the
 * status of a gRPC call), and nothing of the request's body has been read for it.
 */

type Admission =
  | { readonly session: Session }
  /** `cause`: what the edge threw. */
  | { readonly refused: WireError; readonly headers: Record<string, string>; readonly cause?: unknown };

export function admit(request: IncomingMessage, edge: Edge, maxBodyBytes: number): Promise<Admission> | Admission {
  if (declaresTooMuch(request, maxBodyBytes)) return { refused: bodyTooLarge(maxBodyBytes), headers: {} };
  return letIn(edge, {
    headers: request.headers,
    // Node keeps the first of several, a proxy in front may have looked at another one.
    authorizations: occurrences(request, 'authorization'),
    address: request.socket.remoteAddress,
  });
}

/** Asks the edge who calls. `authorizations`: how many the request brought. */
export function letIn(
  edge: Edge,
  request: {
    readonly headers: IncomingHttpHeaders;
    readonly authorizations: number;
    readonly address: string | undefined;
  },
): Promise<Admission> {
  const { headers, authorizations, address } = request;
  const refusal = (cause: unknown): Admission => {
    const refused = wireError(cause);
    const challenge = refused.http === 401 ? { 'WWW-Authenticate': challengeOf(edge, headers) } : {};
    return { refused, headers: challenge, cause };
  };
  if (authorizations > 1) {
    return Promise.resolve(refusal(new DomainError('UNAUTHENTICATED', 'More than one Authorization header')));
  }
  const authenticated = edge.authenticate(headers, address === undefined ? {} : { address });
  return authenticated.then((session) => ({ session }), refusal);
}

/** A fault of ours with its stack; a caller that was not let in with the reason, which nobody else gets to hear. */
export function logRefusal(telemetry: Telemetry, edge: Edge, headers: IncomingHttpHeaders, cause: unknown): void {
  const severity = severityOf(cause);
  if (severity !== undefined) telemetry.event(severity, 'authentication.failed', { edge: edge.name }, cause);
  else if (isDomainError(cause) && !edge.logsRefusals) {
    const reason = cause.cause instanceof Error ? cause.cause.message : cause.message;
    const { trace } = traceOf(headers);
    telemetry.event('info', 'authentication.refused', { edge: edge.name, code: cause.code, reason, trace });
  }
}

export function overloadedError(): WireError {
  const busy = wireError(new DomainError('OVERLOADED', 'The service takes no calls at the moment'));
  // Not the caller's fault, so not the status of a caller who asks too often.
  return { ...busy, http: 503, grpc: 'UNAVAILABLE' };
}

export function bodyTooLarge(maxBodyBytes: number): WireError {
  return protocolError('BODY_TOO_LARGE', `The body is larger than ${maxBodyBytes} bytes`);
}

function occurrences({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index];
    if (header?.length === name.length && header.toLowerCase() === name) count += 1;
  }
  return count;
}

/** RFC 6750, 3.1: no error code for a call that brought no token. */
function challengeOf(edge: Edge, headers: IncomingHttpHeaders): string {
  const realm = `Bearer realm="${edge.name}"`;
  return headers.authorization === undefined ? realm : `${realm}, error="invalid_token"`;
}
