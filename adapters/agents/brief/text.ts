import { clip, escapeMarkdown, withoutLiveMentions } from '../../../core/markdown.ts';
import { closesFence, type Fence, fenceOf, inertLines, openSpan } from './inert-markdown.ts';

/*
 * Everything that people wrote in Jira passes through one of these functions before it becomes part of an answer: it is
 * untrusted, may be of any length, and must neither break our markup nor notify anybody.
 */

// A renderer may look for our own folds by text alone, also inside code, so that not even an escaped one may stay.
const FOLD_TAG = /\\?<(?=\s{0,8}\/?\s{0,8}(?:details|summary))/gi;

/** Plain text on one line. */
export function plain(text: string, maxChars = 200): string {
  return escapeMarkdown(clip(text.replace(/\s+/g, ' ').trim(), maxChars).replace(FOLD_TAG, '‹'));
}

/** At most `maxChars` of the text, cut at a line where that is possible. A code span that is cut keeps its end. */
function firstLines(text: string, maxChars: number): readonly string[] {
  const lines: string[] = [];
  let left = maxChars;
  for (const line of text.split('\n')) {
    if (line.length > left) {
      const cut = clip(line, left);
      return [...lines, left > maxChars / 2 ? cut + openSpan(cut, line) : '…'];
    }
    lines.push(line);
    left -= line.length + 1;
  }
  return lines;
}

/**
 * Foreign markdown as a quote: cut, without HTML and live mentions. Whatever was left open inside, such as a code
 * block, ends in it.
 */
export function quote(markdown: string, maxChars: number): string {
  const text = withoutLiveMentions(markdown.replace(/\r\n?/g, '\n').trim()).replace(FOLD_TAG, '‹');
  // Cut first: what a cut opens has to be seen by what makes it inert.
  return inertLines(firstLines(text, maxChars))
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** What foreign markdown says, without its markup and code blocks; plain text, still to be escaped. */
export function spoken(markdown: string): string {
  let fence: Fence | undefined;
  const lines: string[] = [];
  for (const line of withoutLiveMentions(markdown.slice(0, 20_000)).split('\n')) {
    const opening = fenceOf(line);
    if (fence === undefined && opening === undefined) {
      lines.push(line.replace(/^[ \t>]*(?:#{1,6}[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t])?/, ''));
    } else if (fence === undefined) fence = opening;
    else if (closesFence(line, fence)) fence = undefined;
  }
  return lines
    .join('\n')
    .replace(/(?<!\\)\[([^[\]\n]{0,300})\]\([^()\n]{0,2000}\)/g, '$1')
    .replace(/(?<!\\)(?:\*{1,3}|~~|`+)/g, '')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/\\\n/g, '\n')
    .trim();
}

/** `A`, `A and B`, `A, B and C`. */
export function listed(items: readonly string[]): string {
  const last = items.at(-1) ?? '';
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} and ${last}`;
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** `2026-11-20` of an ISO 8601 date or instant, in UTC. */
export const dayOf = (iso: string): string => iso.slice(0, 10);

const DAY_MS = 86_400_000;

/** Whole days from the day of `from` to the day of `to`, negative when it is over. Undefined when one is no date. */
export function daysUntil(from: string, to: string): number | undefined {
  const days = (Date.parse(dayOf(to)) - Date.parse(dayOf(from))) / DAY_MS;
  return Number.isNaN(days) ? undefined : Math.round(days);
}

/** `in 3 days`, `today`, `2 days ago`. */
export function fromNow(days: number): string {
  if (days === 0) return 'today';
  return days > 0 ? `in ${plural(days, 'day')}` : `${plural(-days, 'day')} ago`;
}
