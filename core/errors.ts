import type { LoadLimit } from './limits.ts';

/** Every way an operation can be refused. An edge maps each code to its wire form in a table that must be complete. */
export const ERROR_CODES = [
  'INVALID_PARAMS',
  'MESSAGE_ID_CONFLICT',
  'TASK_NOT_FOUND',
  'TASK_NOT_CANCELABLE',
  'UNSUPPORTED_OPERATION',
  'CONTENT_TYPE_NOT_SUPPORTED',
  'PUSH_NOT_SUPPORTED',
  'EXTENDED_CARD_NOT_CONFIGURED',
  'EXTENSION_REQUIRED',
  'VERSION_NOT_SUPPORTED',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'AUTHENTICATION_UNAVAILABLE',
  'STORE_UNAVAILABLE',
  'OVERLOADED',
  'USER_TOKEN_REQUIRED',
  'LEASE_LOST',
  'INTERNAL',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * What keeps a store from answering. `locked`: another program holds the database, or it does not keep up. `full`: no room
 * left. `readonly`: it may not be written. `failing`: the disk answers with errors. `moved`: its files are not where they
 * were opened. `damaged`: what it holds cannot be trusted. `closed`: this process is ending.
 */
export type StoreFault = 'locked' | 'full' | 'readonly' | 'failing' | 'moved' | 'damaged' | 'closed';

export interface Violation {
  /** Path of the field in the request, e.g. `message.parts[0].text`. */
  readonly field: string;
  readonly description: string;
}

export interface DomainErrorDetails {
  readonly violations?: readonly Violation[];
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
  /** OVERLOADED: which bound was met. */
  readonly limit?: LoadLimit;
  /** USER_TOKEN_REQUIRED: digest of the token that was refused, `''` when there was none. */
  readonly tokenHash?: string;
  /** STORE_UNAVAILABLE: what is wrong with it. For operators, not for callers. */
  readonly storeFault?: StoreFault;
}

/**
 * The one error type of core. `message` is outward text: fixed words without ids of foreign things, SQL, URLs or
 * tokens. What really happened is in `cause`, for the log only.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  readonly violations: readonly Violation[];
  readonly retryAfterMs: number | undefined;
  readonly limit: LoadLimit | undefined;
  readonly tokenHash: string | undefined;
  readonly storeFault: StoreFault | undefined;
  override readonly cause: unknown;

  constructor(code: ErrorCode, message: string, details: DomainErrorDetails = {}) {
    super(message);
    this.code = code;
    this.violations = details.violations ?? [];
    this.retryAfterMs = details.retryAfterMs;
    this.limit = details.limit;
    this.tokenHash = details.tokenHash;
    this.storeFault = details.storeFault;
    this.cause = details.cause;
  }
}

export function isDomainError(error: unknown, code?: ErrorCode): error is DomainError {
  return error instanceof DomainError && (code === undefined || error.code === code);
}

/** A missing and a foreign task answer with this very error, so that nobody can tell them apart. */
export function taskNotFound(): DomainError {
  return new DomainError('TASK_NOT_FOUND', 'Task not found');
}

export function overloaded(limit: LoadLimit, message: string, retryAfterMs: number): DomainError {
  return new DomainError('OVERLOADED', message, { limit, retryAfterMs });
}

export function invalidParams(field: string, description: string): DomainError {
  return new DomainError('INVALID_PARAMS', 'Invalid parameters', { violations: [{ field, description }] });
}
