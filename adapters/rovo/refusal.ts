import { DomainError, isDomainError } from '../../core/errors.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { type RequestHeaders, traceOf } from './headers.ts';

/** Reasons that were logged aloud are remembered up to so many: strangers must not make this list grow. */
const MAX_REASONS = 100;

/**
 * What a caller that is not let in gets to hear, always the same; why goes into the log, without token or claims.
 * DomainErrors (keys or store not available) stay what they are.
 */
export type Refuse = (error: unknown, headers: RequestHeaders) => DomainError;

/**
 * A wrong setting refuses every call for the same reason, and the first of them has to be seen: a reason is a warning
 * the first time and information from then on.
 */
export function createRefuse(telemetry: Telemetry): Refuse {
  const seen = new Set<string>();

  function isNew(reason: string): boolean {
    // How long something will take is no other reason.
    const kind = reason.replace(/\d+ s\b/g, 's');
    if (seen.has(kind) || seen.size >= MAX_REASONS) return false;
    seen.add(kind);
    return true;
  }

  return (error, headers) => {
    const cause = isDomainError(error) ? error.cause : error;
    const code = isDomainError(error) ? error.code : 'UNAUTHENTICATED';
    const reason = cause instanceof Error ? cause.message.slice(0, 280) : undefined;
    const level = isNew(`${code} ${reason}`) ? 'warn' : 'info';
    const { trace, b3 } = traceOf(headers);
    telemetry.event(level, 'rovo.refused', { code, reason, trace, b3TraceId: b3 });
    return isDomainError(error) ? error : new DomainError('UNAUTHENTICATED', 'Authentication failed', { cause: error });
  };
}
