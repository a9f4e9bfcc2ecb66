import { isText, type Json, type Message, type Part } from '../../core/message.ts';
import { withoutCredentials } from '../without-credentials.ts';
import { printableText } from './printable.ts';

/*
 * Messages hold what people wrote and what work items say. Without `--texts` an operator sees what kind it is and how
 * much, which is what a fault is usually about.
 */

/** `text of 120 characters, data`. */
export function describe(parts: readonly Part[]): string {
  return parts.length === 0 ? 'nothing' : parts.map(describePart).join(', ');
}

function describePart(part: Part): string {
  if (isText(part)) return `text of ${part.text.length} characters`;
  if ('raw' in part) return `file of ${part.raw.length} base64 characters`;
  return 'url' in part ? 'url' : `data of ${JSON.stringify(part.data).length} characters`;
}

/** Its texts, indented, for a terminal; other parts are described. */
export function spellOut(parts: readonly Part[]): string {
  const blocks = parts.map((part) => {
    if (isText(part)) return part.text;
    return 'data' in part ? JSON.stringify(part.data) : `(${describePart(part)})`;
  });
  return blocks.map((block) => `${printableText(withoutCredentials(block)).replace(/^/gm, '    ')}\n`).join('');
}

/** For `--json`. */
export function messageJson({ messageId, role, parts }: Message, texts: boolean): object {
  return { messageId, role, parts: parts.map(texts ? cleaned : describePart) };
}

/** A copy in which no text holds what looks like a credential. */
export function cleaned(value: unknown): Json {
  if (typeof value === 'string') return withoutCredentials(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value as Json;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cleaned(member)]));
}
