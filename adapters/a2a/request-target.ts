import type { IncomingMessage } from 'node:http';
import type { RequestHead } from './binding.ts';

/** What the first line of a request asks for. */
export interface RequestTarget {
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
}

const ABSOLUTE = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;

/**
 * Of `/path?query`, or of a whole URL, which is what a client sends that takes us for a proxy. Nothing is decoded and
 * nothing resolved: a path is compared as it came. A fragment does not count, although nobody should send one.
 */
export function targetOf(url: string): RequestTarget {
  const origin = url.startsWith('/') ? '' : (ABSOLUTE.exec(url)?.[0] ?? '');
  const fragment = url.indexOf('#');
  const end = fragment < 0 ? url.length : fragment;
  const mark = url.indexOf('?');
  if (mark < 0 || mark > end) return { path: url.slice(origin.length, end), query: '' };
  return { path: url.slice(origin.length, mark), query: url.slice(mark + 1, end) };
}

export function headOf({ method = '', url = '', headers }: IncomingMessage): RequestHead {
  const { path, query } = targetOf(url);
  return { method, path, query, headers };
}
