import type { IncomingHttpHeaders } from 'node:http';
import { protocolError, type WireError } from './error-table.ts';

/** Of HTTP+JSON (A2A 1.0.1, 14.1.1); JSON-RPC keeps to `application/json`. */
export const A2A_JSON = 'application/a2a+json';
export const JSON_TYPE = 'application/json';

/** A body that is not JSON by its own account is not parsed (5.4). `accepted`: `application/json` is always among them. */
export function unreadableBody(headers: IncomingHttpHeaders, accepted: readonly string[]): WireError | undefined {
  // As nearly everybody says it, and then nothing has to be taken apart.
  if (headers['content-type'] === JSON_TYPE && headers['content-encoding'] === undefined) return undefined;
  const [mediaType, ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((name) => name.startsWith('charset='));
  const isJson = accepted.includes((mediaType ?? '').trim()) && /^(charset="?utf-8"?)?$/.test(charset ?? '');
  const encoding = (headers['content-encoding'] ?? '').toLowerCase();
  if (isJson && (encoding === '' || encoding === 'identity')) return undefined;
  return protocolError('CONTENT_TYPE_NOT_SUPPORTED', `The body must be uncompressed ${accepted.join(' or ')} in UTF-8`);
}

/** Media types are compared without their parameters and in any case. */
export function mediaTypeOf(header: string | undefined): string {
  return (header ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}
