/*
 * What every text that leaves us needs, whoever wrote it: plain text that stays plain inside markdown, and markdown
 * that notifies nobody. Names, titles and comments come from strangers; all functions here are total and take linear
 * time on any input.
 */

/**
 * Cuts plain text at `maxChars` UTF-16 units, never inside a surrogate pair, and marks the cut with `…`. Markdown that
 * is cut like this may have lost the end of a code span, and what was shown as code in it is live.
 */
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

// Before a link destination a line may end, and the next one begin with the marks of a quote.
const GAP = String.raw`[\s>]*`;
// The destination may spell its first character as an escape or as a character reference.
const TILDE = String.raw`(?:\\?~|&#0{0,9}126;|&#[xX]0{0,9}7[eE];)`;
// Its target holds no backtick, so that taking it away never opens or closes a code span.
const MENTION = new RegExp(
  String.raw`(?<!\\)((?:\\\\){0,50})\[((?:[^[\]\\\n]|\\.){0,300})\]\(${GAP}<?${TILDE}[^)\n${'`'}]{0,256}\)`,
  'g',
);
const MENTION_TARGET = new RegExp(String.raw`(?<!\\)(\\*)\](\(${GAP}<?${TILDE})`, 'g');
const MENTION_DEFINITION = new RegExp(String.raw`\]:(?=${GAP}<?${TILDE})`, 'g');
const WIKI_MENTION = /(?<!\\)(\\*)\[~(?=[^\]\s]{1,256}\])/g;

/** Do these backslashes escape what follows? An even number escapes only itself. */
const isEscaped = (slashes: string): boolean => slashes.length % 2 === 1;

/**
 * Markdown in which `[@Name](~accountId)` is just `Name`: a live mention in something we post would notify a person
 * who has nothing to do with it. Variants that a simple replacement misses (nested brackets, reference definitions,
 * wiki spelling) stop being links instead.
 */
export function withoutLiveMentions(markdown: string): string {
  return markdown
    .replace(MENTION, (_all, slashes: string, label: string) => slashes + label.replace(/^\s*@+/, ''))
    .replace(MENTION_TARGET, (all, slashes: string, target: string) =>
      isEscaped(slashes) ? all : `${slashes}]\\${target}`,
    )
    .replace(MENTION_DEFINITION, ']\\:')
    .replace(WIKI_MENTION, (all, slashes: string) => (isEscaped(slashes) ? all : `${slashes}\\[~`));
}
