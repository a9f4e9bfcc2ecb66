import type { SpanContext } from '@opentelemetry/api';

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/;
const B3_TRACE = /^(?!0+$)(?:[\da-f]{16}){1,2}$/i;

/**
 * Where work goes on that began elsewhere: a W3C `traceparent`, or a B3 trace id of 64 or 128 bits. A B3 id comes
 * without the id of a span and without its sender's choice whether to record: the trace's first span, whose id B3
 * senders take from the trace's last 64 bits, is taken for the parent, and the trace counts as recorded.
 * Undefined when it is neither.
 */
export function spanContextOf(text: string | undefined): SpanContext | undefined {
  if (text === undefined) return undefined;
  const [, traceId, spanId, flags = ''] = TRACEPARENT.exec(text) ?? [];
  if (traceId !== undefined && spanId !== undefined) {
    return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  }
  if (!B3_TRACE.test(text)) return undefined;
  const wide = text.toLowerCase().padStart(32, '0');
  const [high, low] = [wide.slice(0, 16), wide.slice(16)];
  return { traceId: wide, spanId: /^0+$/.test(low) ? high : low, traceFlags: 1, isRemote: true };
}

export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`;
}
