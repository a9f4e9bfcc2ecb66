/** How the transcript's text is cut, wrapped and coloured. Pure: widths and colours are told, nothing is looked up. */

const MIN_WIDTH = 20;
/** Jira's texts are foreign: an escape sequence in one of them must not reach the terminal. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;

export function printable(text: string): string {
  return text.replace(CONTROLS, ' ');
}

/** One line of at most `chars` characters, an ellipsis included; never half of a surrogate pair. */
export function clip(text: string, chars: number): string {
  const line = printable(text).trimEnd();
  if (line.length <= chars) return line;
  const head = line.slice(0, chars - 1);
  return `${/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head}…`;
}

/** Breaks at single spaces; a longer word stands alone on a line that is too long rather than being cut. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of printable(text)
    .trim()
    .split(/(?<=\S) (?=\S)/)) {
    if (line !== '' && line.length + 1 + word.length > Math.max(MIN_WIDTH, width)) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

const FOLD = /<details>\s*<summary>(.*?)<\/summary>[\s\S]*?<\/details>/g;

/**
 * The beginning of an answer as a person would see it: folded parts closed, blank lines left out, the rest counted.
 * `width` and `lines` bound what is returned, the line with the count comes on top.
 */
export function excerpt(markdown: string, width: number, lines: number): readonly string[] {
  const all = markdown
    .replace(FOLD, '▸ $1')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const shown = all.slice(0, lines).map((line) => clip(line, width));
  const rest = all.length - shown.length;
  return rest > 0 ? [...shown, `… ${rest} more ${rest === 1 ? 'line' : 'lines'}`] : shown;
}

/** `label` in a column of its own, continued lines below the text. */
export function columns(
  label: string,
  text: string,
  size: { readonly indent: number; readonly column: number; readonly width: number },
): readonly string[] {
  const left = size.indent + size.column;
  return wrap(text, size.width - left).map(
    (line, index) => `${' '.repeat(size.indent)}${(index === 0 ? label : '').padEnd(size.column)}${line}`,
  );
}

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], cyan: [36, 39] } as const;
export type Style = keyof typeof CODES;
export type Paint = (style: Style, text: string) => string;

/** Colours are for a terminal, and for nobody who set NO_COLOR to anything (no-color.org). */
export function wantsColour(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  return isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
}

export function createPaint(coloured: boolean): Paint {
  if (!coloured) return (_style, text) => text;
  return (style, text) => `\u001b[${CODES[style][0]}m${text}\u001b[${CODES[style][1]}m`;
}
