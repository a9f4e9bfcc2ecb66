/*
 * What every text that leaves us needs, whoever wrote it: plain text that stays plain inside markdown, and markdown
 * that notifies nobody. Names, titles and comments come from strangers; all functions here are total and take linear
 * time on any input.
 */

/** Cuts at `maxChars` UTF-16 units, never inside a surrogate pair, and marks the cut with `…`. */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? maxChars - 1 : maxChars;
  return `${text.slice(0, end).trimEnd()}…`;
}

/** Plain text as one line of markdown that shows exactly it. Not enough at the start of a line: `escapeLineStart`. */
export function escapeInline(text: string): string {
  return text
    .replace(/[\r\n]+/g, ' ')
    .replace(/[\\`*_[\]<>|~]/g, '\\$&')
    .replace(/&(?=#?[A-Za-z0-9]{1,40};)/g, '\\&');
}

/** Keeps a line that `escapeInline` made from turning into a heading, a list, a rule or indented code. */
export function escapeLineStart(line: string): string {
  return line
    .trimStart()
    .replace(/^[#+=-]/, '\\$&')
    .replace(/^(\d{1,9})([.)])/, '$1\\$2');
}

/** Plain text of one line, wherever it stands. */
export function escapeMarkdown(text: string): string {
  return escapeLineStart(escapeInline(text));
}

// A link destination may spell its first character as an escape or as a character reference.
const TILDE = String.raw`(?:\\?~|&#0{0,9}126;|&#[xX]0{0,9}7[eE];)`;
// Its target holds no backtick, so that taking it away never opens or closes a code span.
const MENTION = new RegExp(
  String.raw`(?<!\\)((?:\\\\){0,50})\[((?:[^[\]\\\n]|\\.){0,300})\]\(\s*<?${TILDE}[^)\n${'`'}]{0,256}\)`,
  'g',
);
const MENTION_TARGET = new RegExp(String.raw`(?<!\\)(\\*)\](\(\s*<?${TILDE})`, 'g');
const MENTION_DEFINITION = new RegExp(String.raw`\]:(?=\s*<?${TILDE})`, 'g');
const WIKI_MENTION = /(?<!\\)\[~(?=[^\]\s]{1,256}\])/g;

/**
 * Markdown in which `[@Name](~accountId)` is just `Name`: a live mention in something we post would notify a person
 * who has nothing to do with it. Variants that a simple replacement misses (nested brackets, reference definitions,
 * wiki spelling) stop being links instead.
 */
export function withoutLiveMentions(markdown: string): string {
  return markdown
    .replace(MENTION, (_all, slashes: string, label: string) => slashes + label.replace(/^\s*@+/, ''))
    .replace(MENTION_TARGET, (all, slashes: string, target: string) =>
      slashes.length % 2 === 1 ? all : `${slashes}]\\${target}`,
    )
    .replace(MENTION_DEFINITION, ']\\:')
    .replace(WIKI_MENTION, '\\[~');
}
