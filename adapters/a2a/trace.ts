import type { IncomingHttpHeaders } from 'node:http';

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The caller's W3C trace context, to be kept with the work; nothing when it is malformed. */
export function traceOf(headers: IncomingHttpHeaders): { readonly trace?: string } {
  const { traceparent } = headers;
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? { trace: traceparent } : {};
}
