import type { IncomingMessage } from 'node:http';
import { JIRA_LIMITS } from '../limits.ts';

/** What the reader makes of a stream: events, comments (heartbeats), and what is wrong with the lines themselves. */
export type SseItem =
  | { readonly kind: 'event'; readonly data: string; readonly id?: string }
  | { readonly kind: 'comment'; readonly text: string }
  | { readonly kind: 'fault'; readonly detail: string };

/** Line breaks to some readers and not to others: a raw one cuts the JSON in two for those. */
const AMBIGUOUS_BREAK = /[\u2028\u2029\u0085]/;

interface PendingEvent {
  readonly data: string[];
  id?: string;
}

/**
 * Reads server-sent events the way Jira's client is known to: a line over 65,535 characters is dropped without a word
 * (here: reported), each event has one data line.
 */
export async function* readSse(body: IncomingMessage, onBytes: () => void): AsyncGenerator<SseItem, void> {
  body.setEncoding('utf8');
  let pending: PendingEvent = { data: [] };
  let rest = '';
  for await (const chunk of body) {
    onBytes();
    rest += String(chunk);
    // A carriage return at the very end may be half of a CRLF: it waits for the next chunk.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        yield* dispatch(pending);
        pending = { data: [] };
      } else yield* takeLine(line, pending);
    }
  }
  if (rest.trim() !== '' || pending.data.length > 0) {
    yield { kind: 'fault', detail: 'the stream ends in the middle of an event' };
  }
}

function* takeLine(line: string, pending: PendingEvent): Generator<SseItem, void> {
  if (line.length > JIRA_LIMITS.maxLineChars) {
    yield { kind: 'fault', detail: `a line of ${line.length} characters is dropped by Jira's reader` };
    return;
  }
  if (AMBIGUOUS_BREAK.test(line)) yield { kind: 'fault', detail: 'U+2028, U+2029 or U+0085 raw in a line' };
  if (line.startsWith(':')) {
    yield { kind: 'comment', text: line.slice(1).trim() };
    return;
  }
  const colon = line.indexOf(':');
  const field = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
  if (field === 'data') pending.data.push(value);
  else if (field === 'id') pending.id = value;
}

function* dispatch(pending: PendingEvent): Generator<SseItem, void> {
  const [data] = pending.data;
  if (data === undefined) return;
  if (pending.data.length > 1) yield { kind: 'fault', detail: `an event of ${pending.data.length} data lines` };
  yield { kind: 'event', data: pending.data.join('\n'), ...(pending.id === undefined ? {} : { id: pending.id }) };
}
