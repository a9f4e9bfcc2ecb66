import type { IncomingHttpHeaders } from 'node:http';
import type { Metadata } from '@grpc/grpc-js';

/**
 * The metadata of a call as the headers that edges and checks read (A2A 1.0, 10.2), several values of one name as one
 * list. `host`: the authority that the call is for; a `host` beside it that says something else is kept as well, since
 * whoever looks at hosts has to refuse such a call.
 */
export function headersOf(metadata: Metadata, host: string | undefined): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  for (const name of Object.keys(metadata.getMap())) {
    const texts = metadata.get(name).filter((value) => typeof value === 'string');
    if (texts.length > 0) headers[name] = texts.join(', ');
  }
  const hosts = new Set([host, headers.host].filter((name) => name !== undefined));
  if (hosts.size > 0) headers.host = [...hosts].join(', ');
  return headers;
}
