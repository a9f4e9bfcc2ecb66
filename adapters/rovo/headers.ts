/** As node:http gives them. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const MAX_BEARER_CHARS = 16_384;
const BEARER = /^bearer +([\w.~+/-]+=*)$/i;

/** A header that was sent exactly once. */
export function singleHeader(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  if (typeof value === 'string') return value;
  return value?.length === 1 ? value[0] : undefined;
}

/**
 * The token of the one Authorization header. Two headers, however they were joined, another scheme and a token that no
 * issuer would write are undefined.
 */
export function bearerToken(headers: RequestHeaders): string | undefined {
  const value = singleHeader(headers, 'authorization');
  if (value === undefined || value.length > MAX_BEARER_CHARS) return undefined;
  return BEARER.exec(value.trim())?.[1];
}

const TRACEPARENT = /^[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;
const B3_TRACE = /^[\da-f]{16}(?:[\da-f]{16})?$/i;

/**
 * `trace` is what everything that a call causes is logged under: the trace context, else B3's id. `b3` is what
 * Atlassian's support asks for, absent when it is `trace` already. What is malformed is absent: it goes into logs.
 */
export function traceOf(headers: RequestHeaders): { readonly trace?: string; readonly b3?: string } {
  const traceparent = singleHeader(headers, 'traceparent') ?? '';
  const b3 = singleHeader(headers, 'x-b3-traceid') ?? '';
  if (!TRACEPARENT.test(traceparent)) return B3_TRACE.test(b3) ? { trace: b3 } : {};
  return { trace: traceparent, ...(B3_TRACE.test(b3) ? { b3 } : {}) };
}
