import { type DomainError, type ErrorCode, isDomainError, type Violation } from '../../core/errors.ts';
import { LOAD_LIMITS } from '../../core/limits.ts';

interface ErrorRow {
  readonly jsonRpc: number;
  /** Before authentication, and on bindings that use HTTP statuses. */
  readonly http: number;
  /** Name of the google.rpc.Code. */
  readonly grpc: GrpcStatus;
  /** `reason` of google.rpc.ErrorInfo: the error's name in the specification, upper snake case (A2A 1.0, 9.5). */
  readonly reason: string;
  /** The same call may succeed later: RetryInfo and Retry-After are added. */
  readonly retry?: true;
  /** The text stays inside; a fixed one goes out. */
  readonly internal?: true;
}

export type GrpcStatus =
  | 'INVALID_ARGUMENT'
  | 'ALREADY_EXISTS'
  | 'NOT_FOUND'
  | 'FAILED_PRECONDITION'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'UNIMPLEMENTED'
  | 'UNAVAILABLE'
  | 'RESOURCE_EXHAUSTED'
  | 'INTERNAL';

/**
 * Error codes of the domain on the wire (A2A 1.0.1, 5.4; 1.0.0 had 409 and 415 where it now says 400). UNAUTHENTICATED
 * and FORBIDDEN go out with their HTTP status, but for a caller whose tenant was removed: only the accepting commit sees that.
 */
export const ERROR_TABLE = {
  INVALID_PARAMS: { jsonRpc: -32602, http: 400, grpc: 'INVALID_ARGUMENT', reason: 'INVALID_PARAMS' },
  MESSAGE_ID_CONFLICT: { jsonRpc: -32602, http: 409, grpc: 'ALREADY_EXISTS', reason: 'MESSAGE_ID_CONFLICT' },
  TASK_NOT_FOUND: { jsonRpc: -32001, http: 404, grpc: 'NOT_FOUND', reason: 'TASK_NOT_FOUND' },
  TASK_NOT_CANCELABLE: { jsonRpc: -32002, http: 400, grpc: 'FAILED_PRECONDITION', reason: 'TASK_NOT_CANCELABLE' },
  PUSH_NOT_SUPPORTED: {
    jsonRpc: -32003,
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  },
  UNSUPPORTED_OPERATION: { jsonRpc: -32004, http: 400, grpc: 'FAILED_PRECONDITION', reason: 'UNSUPPORTED_OPERATION' },
  CONTENT_TYPE_NOT_SUPPORTED: {
    jsonRpc: -32005,
    http: 400,
    grpc: 'INVALID_ARGUMENT',
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
  },
  EXTENDED_CARD_NOT_CONFIGURED: {
    jsonRpc: -32007,
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  },
  EXTENSION_REQUIRED: { jsonRpc: -32008, http: 400, grpc: 'FAILED_PRECONDITION', reason: 'EXTENSION_SUPPORT_REQUIRED' },
  VERSION_NOT_SUPPORTED: { jsonRpc: -32009, http: 400, grpc: 'FAILED_PRECONDITION', reason: 'VERSION_NOT_SUPPORTED' },
  UNAUTHENTICATED: { jsonRpc: -32600, http: 401, grpc: 'UNAUTHENTICATED', reason: 'UNAUTHENTICATED' },
  FORBIDDEN: { jsonRpc: -32600, http: 403, grpc: 'PERMISSION_DENIED', reason: 'FORBIDDEN' },
  AUTHENTICATION_UNAVAILABLE: {
    jsonRpc: -32603,
    http: 503,
    grpc: 'UNAVAILABLE',
    reason: 'AUTHENTICATION_UNAVAILABLE',
    retry: true,
  },
  STORE_UNAVAILABLE: { jsonRpc: -32603, http: 503, grpc: 'UNAVAILABLE', reason: 'STORE_UNAVAILABLE', retry: true },
  OVERLOADED: { jsonRpc: -32603, http: 429, grpc: 'RESOURCE_EXHAUSTED', reason: 'OVERLOADED', retry: true },
  USER_TOKEN_REQUIRED: { jsonRpc: -32603, http: 500, grpc: 'INTERNAL', reason: 'INTERNAL_ERROR', internal: true },
  LEASE_LOST: { jsonRpc: -32603, http: 500, grpc: 'INTERNAL', reason: 'INTERNAL_ERROR', internal: true },
  INTERNAL: { jsonRpc: -32603, http: 500, grpc: 'INTERNAL', reason: 'INTERNAL_ERROR', internal: true },
} as const satisfies Record<ErrorCode, ErrorRow>;

/** Faults of the envelope or the request line, which the domain does not know. */
export const PROTOCOL_ERRORS = {
  PARSE_ERROR: { jsonRpc: -32700, http: 400, grpc: 'INVALID_ARGUMENT' },
  INVALID_REQUEST: { jsonRpc: -32600, http: 400, grpc: 'INVALID_ARGUMENT' },
  METHOD_NOT_FOUND: { jsonRpc: -32601, http: 404, grpc: 'NOT_FOUND' },
  METHOD_NOT_ALLOWED: { jsonRpc: -32600, http: 405, grpc: 'UNIMPLEMENTED' },
  BODY_TOO_LARGE: { jsonRpc: -32600, http: 413, grpc: 'INVALID_ARGUMENT' },
  BODY_TOO_SLOW: { jsonRpc: -32600, http: 408, grpc: 'INVALID_ARGUMENT' },
  /** Of the request itself: that one HTTP has a status for, which the table of 5.4 does not mean. */
  CONTENT_TYPE_NOT_SUPPORTED: { jsonRpc: -32005, http: 415, grpc: 'INVALID_ARGUMENT' },
} as const;
type ProtocolFault = keyof typeof PROTOCOL_ERRORS;

/** The google.rpc messages that go with errors, in ProtoJSON. */
export type ErrorDetail =
  | {
      readonly '@type': 'type.googleapis.com/google.rpc.ErrorInfo';
      readonly reason: string;
      readonly domain: string;
    }
  | { readonly '@type': 'type.googleapis.com/google.rpc.BadRequest'; readonly fieldViolations: readonly Violation[] }
  | { readonly '@type': 'type.googleapis.com/google.rpc.RetryInfo'; readonly retryDelay: string };

/** An error as every binding can show it. */
export interface WireError {
  readonly jsonRpc: number;
  readonly http: number;
  readonly grpc: GrpcStatus;
  readonly message: string;
  /** ErrorInfo first. */
  readonly details: readonly ErrorDetail[];
  /** When the same call may succeed. */
  readonly retryAfterMs?: number;
}

/** Not those of a caller who asks too often. */
const SHARED = { http: 503, grpc: 'UNAVAILABLE' } as const;
const INTERNAL_TEXT = 'Internal error';
const DEFAULT_RETRY_MS = 1_000;
/** A body full of faults must not be answered with an even larger one. */
const MAX_VIOLATIONS = 32;
const MAX_FIELD_CHARS = 256;

export function protocolError(fault: ProtocolFault, message: string): WireError {
  return { ...PROTOCOL_ERRORS[fault], message, details: [errorInfo(fault)] };
}

/** Everything that is no DomainError, and the inner ones among those, go out with the same fixed text. */
export function wireError(error: unknown): WireError {
  const { jsonRpc, reason, internal, retry, ...row } = rowOf(error);
  const { http, grpc } = isShared(error) ? SHARED : row;
  if (!isDomainError(error) || internal) {
    return { jsonRpc, http, grpc, message: INTERNAL_TEXT, details: [errorInfo(reason)] };
  }
  const details: ErrorDetail[] = [errorInfo(reason)];
  if (error.violations.length > 0) details.push(badRequest(error.violations));
  const retryAfterMs = retry ? delayOf(error) : undefined;
  if (retryAfterMs !== undefined) details.push(retryInfo(retryAfterMs));
  const { message } = error;
  return { jsonRpc, http, grpc, message, details, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** `Retry-After`, where it makes sense. */
export function retryHeader({ retryAfterMs }: WireError): Record<string, string> {
  return retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) };
}

/** How loud an error belongs in the log, with its cause; undefined: it is the caller's, or it is said or counted elsewhere. */
export function severityOf(error: unknown): 'error' | 'warn' | undefined {
  // One line for each refused call would bury the one that tells what is wrong.
  if (isDomainError(error, 'STORE_UNAVAILABLE')) return undefined;
  // Counted by whoever met the bound; a flood of calls must not become one of lines.
  if (isDomainError(error) && error.limit !== undefined) return undefined;
  const row = rowOf(error);
  if (row.internal) return 'error';
  return row.retry ? 'warn' : undefined;
}

function rowOf(error: unknown): ErrorRow {
  return ERROR_TABLE[isDomainError(error) ? error.code : 'INTERNAL'];
}

/** The service has too much, and its caller has done nothing wrong. */
function isShared(error: unknown): boolean {
  return isDomainError(error) && error.limit !== undefined && LOAD_LIMITS[error.limit] === 'all';
}

function delayOf(error: DomainError): number {
  return Math.max(Math.ceil(error.retryAfterMs ?? DEFAULT_RETRY_MS), 1);
}

function errorInfo(reason: string): ErrorDetail {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' };
}

function badRequest(violations: readonly Violation[]): ErrorDetail {
  return {
    '@type': 'type.googleapis.com/google.rpc.BadRequest',
    fieldViolations: violations
      .slice(0, MAX_VIOLATIONS)
      .map(({ field, description }) => ({ field: field.slice(0, MAX_FIELD_CHARS), description })),
  };
}

function retryInfo(ms: number): ErrorDetail {
  return { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${ms / 1_000}s` };
}
