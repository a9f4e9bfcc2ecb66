import { type DomainError, type ErrorCode, isDomainError, type Violation } from '../../core/errors.ts';
import type { JsonObject } from '../../core/message.ts';

interface ErrorRow {
  readonly jsonRpc: number;
  /** Before authentication, and on bindings that use HTTP statuses. */
  readonly http: number;
  /** `reason` of google.rpc.ErrorInfo: the error's name in the specification, upper snake case (A2A 1.0, 9.5). */
  readonly reason: string;
  /** The same call may succeed later: RetryInfo and Retry-After are added. */
  readonly retry?: true;
  /** The text stays inside; a fixed one goes out. */
  readonly internal?: true;
}

/** Error codes of the domain on the wire (A2A 1.0, 5.4). UNAUTHENTICATED and FORBIDDEN only ever go out with their HTTP status. */
export const ERROR_TABLE = {
  INVALID_PARAMS: { jsonRpc: -32602, http: 400, reason: 'INVALID_PARAMS' },
  MESSAGE_ID_CONFLICT: { jsonRpc: -32602, http: 409, reason: 'MESSAGE_ID_CONFLICT' },
  TASK_NOT_FOUND: { jsonRpc: -32001, http: 404, reason: 'TASK_NOT_FOUND' },
  TASK_NOT_CANCELABLE: { jsonRpc: -32002, http: 409, reason: 'TASK_NOT_CANCELABLE' },
  PUSH_NOT_SUPPORTED: { jsonRpc: -32003, http: 400, reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' },
  UNSUPPORTED_OPERATION: { jsonRpc: -32004, http: 400, reason: 'UNSUPPORTED_OPERATION' },
  CONTENT_TYPE_NOT_SUPPORTED: { jsonRpc: -32005, http: 415, reason: 'CONTENT_TYPE_NOT_SUPPORTED' },
  EXTENDED_CARD_NOT_CONFIGURED: { jsonRpc: -32007, http: 400, reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED' },
  EXTENSION_REQUIRED: { jsonRpc: -32008, http: 400, reason: 'EXTENSION_SUPPORT_REQUIRED' },
  VERSION_NOT_SUPPORTED: { jsonRpc: -32009, http: 400, reason: 'VERSION_NOT_SUPPORTED' },
  UNAUTHENTICATED: { jsonRpc: -32600, http: 401, reason: 'UNAUTHENTICATED' },
  FORBIDDEN: { jsonRpc: -32600, http: 403, reason: 'FORBIDDEN' },
  AUTHENTICATION_UNAVAILABLE: { jsonRpc: -32603, http: 503, reason: 'AUTHENTICATION_UNAVAILABLE', retry: true },
  STORE_UNAVAILABLE: { jsonRpc: -32603, http: 503, reason: 'STORE_UNAVAILABLE', retry: true },
  OVERLOADED: { jsonRpc: -32603, http: 429, reason: 'OVERLOADED', retry: true },
  USER_TOKEN_REQUIRED: { jsonRpc: -32603, http: 500, reason: 'INTERNAL_ERROR', internal: true },
  LEASE_LOST: { jsonRpc: -32603, http: 500, reason: 'INTERNAL_ERROR', internal: true },
  INTERNAL: { jsonRpc: -32603, http: 500, reason: 'INTERNAL_ERROR', internal: true },
} as const satisfies Record<ErrorCode, ErrorRow>;

/** Faults of the JSON-RPC envelope, which the domain does not know. */
const PROTOCOL_ERRORS = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
} as const;
type ProtocolFault = keyof typeof PROTOCOL_ERRORS;

/** The `error` member of a JSON-RPC answer. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  /** google.rpc details; ErrorInfo first. */
  readonly data: readonly JsonObject[];
}

const INTERNAL_TEXT = 'Internal error';
const DEFAULT_RETRY_MS = 1_000;
/** A body full of faults must not be answered with an even larger one. */
const MAX_VIOLATIONS = 32;
const MAX_FIELD_CHARS = 256;

export function protocolError(fault: ProtocolFault, message: string): RpcError {
  return { code: PROTOCOL_ERRORS[fault], message, data: [errorInfo(fault)] };
}

/** Everything that is no DomainError, and the inner ones among those, go out as the same fixed -32603. */
export function rpcError(error: unknown): RpcError {
  const row = rowOf(error);
  if (!isDomainError(error) || row.internal) {
    return { code: row.jsonRpc, message: INTERNAL_TEXT, data: [errorInfo(row.reason)] };
  }
  const data = [errorInfo(row.reason)];
  if (error.violations.length > 0) data.push(badRequest(error.violations));
  if (row.retry) data.push(retryInfo(retryAfterMs(error)));
  return { code: row.jsonRpc, message: error.message, data };
}

/** HTTP status and headers of a refusal before authentication. */
export function httpRefusal(error: unknown): { readonly status: number; readonly headers: Record<string, string> } {
  const row = rowOf(error);
  if (!isDomainError(error) || !row.retry) return { status: row.http, headers: {} };
  return { status: row.http, headers: { 'Retry-After': String(Math.ceil(retryAfterMs(error) / 1_000)) } };
}

/** How loud an error belongs in the log, with its cause; undefined: it is the caller's. */
export function severityOf(error: unknown): 'error' | 'warn' | undefined {
  const row = rowOf(error);
  if (row.internal) return 'error';
  return row.retry ? 'warn' : undefined;
}

function rowOf(error: unknown): ErrorRow {
  return ERROR_TABLE[isDomainError(error) ? error.code : 'INTERNAL'];
}

function retryAfterMs(error: DomainError): number {
  return Math.max(Math.ceil(error.retryAfterMs ?? DEFAULT_RETRY_MS), 1);
}

function errorInfo(reason: string): JsonObject {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' };
}

function badRequest(violations: readonly Violation[]): JsonObject {
  return {
    '@type': 'type.googleapis.com/google.rpc.BadRequest',
    fieldViolations: violations
      .slice(0, MAX_VIOLATIONS)
      .map(({ field, description }) => ({ field: field.slice(0, MAX_FIELD_CHARS), description })),
  };
}

function retryInfo(ms: number): JsonObject {
  return { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${ms / 1_000}s` };
}
