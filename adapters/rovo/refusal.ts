import { DomainError, isDomainError } from '../../core/errors.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { type RequestHeaders, traceOf } from './headers.ts';

/**
 * What a caller that is not let in gets to hear, always the same; why goes into the log, without token or claims.
 * DomainErrors (keys or store not available) stay what they are.
 */
export function refusal(error: unknown, headers: RequestHeaders, telemetry: Telemetry): DomainError {
  const cause = isDomainError(error) ? error.cause : error;
  const code = isDomainError(error) ? error.code : 'UNAUTHENTICATED';
  const reason = cause instanceof Error ? cause.message.slice(0, 200) : undefined;
  telemetry.event('info', 'rovo.refused', { code, reason, b3TraceId: traceOf(headers).b3 });
  return isDomainError(error) ? error : new DomainError('UNAUTHENTICATED', 'Authentication failed', { cause: error });
}
