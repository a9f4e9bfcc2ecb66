/*
 * Foreign markdown that stays harmless wherever it was cut. What is inert as code is live the moment the code loses its
 * end: tags, mentions. And renderers disagree on where code ends: a cut takes a backtick away, a table splits its cells
 * inside a span, a quote that is over ends a block in it. So nothing counts as code that is not closed here: a span
 * ends on its own line or is none, a block gets a fence of ours and lines that all begin alike.
 */

/** Containers that a line may begin with, and a fence behind them. It may take a line for one that a parser would not. */
const FENCE = /^((?:[ \t>]|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*)(`{3,}(?=[^`]*$)|~{3,})([\s\S]*)$/;
/** A span here would be a fence to whoever does not look for its end. */
const LOOKS_FENCED = /^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*`{3,}$/;
const LANGUAGE = /^[A-Za-z0-9+#._-]{1,30}/;
const TOKENS = /\\[!-/:-@[-`{-~]|`+|<(?=[A-Za-z/!?])|\]\(/g;
/** All of a link's destination, when nothing in it could be read as anything else. */
const PLAIN_TARGET = /[^\s()<>\\`]*\)/y;
const BARE_PIPE = /(?<!\\)(?:\\\\)*\|/;
const DELIMITER_ROW = /^[\s>*+.)\d|:-]+$/;

export interface Fence {
  /** What the line has before it. */
  readonly prefix: string;
  readonly mark: string;
  readonly info: string;
}

export function fenceOf(line: string): Fence | undefined {
  const [, prefix = '', mark, info = ''] = FENCE.exec(line) ?? [];
  return mark === undefined ? undefined : { prefix: prefix.replaceAll('\t', '    '), mark, info: info.trim() };
}

/** Does this line end the block that such a fence began? */
export function closesFence(line: string, opening: Fence): boolean {
  const { prefix = '', mark = '', info } = fenceOf(line) ?? {};
  return mark.startsWith(opening.mark) && info === '' && /^[ >]*$/.test(prefix);
}

/** Where the code span ends whose opening run of backticks ends at `from`. */
function spanEnd(line: string, from: number, run: string): number | undefined {
  const runs = /`+/g;
  runs.lastIndex = from;
  for (let found = runs.exec(line); found; found = runs.exec(line)) {
    if (found[0].length === run.length) return runs.lastIndex;
  }
  return undefined;
}

/**
 * One line with its code spans, each that has an end, and all tags outside them as text. A link's destination comes
 * before the spans that begin in it, so only a plain one stays. `inTable`: a pipe splits the line even inside a span,
 * so that a span around one is none.
 */
function inertLine(line: string, inTable: boolean): string {
  const tokens = new RegExp(TOKENS);
  let out = '';
  let from = 0;
  for (let found = tokens.exec(line); found; found = tokens.exec(line)) {
    const [token] = found;
    out += line.slice(from, found.index);
    from = tokens.lastIndex;
    if (token.startsWith('\\')) out += token;
    else if (token === '<') out += '\\<';
    else if (token === '](') {
      PLAIN_TARGET.lastIndex = from;
      out += PLAIN_TARGET.test(line) ? token : ']\\(';
    } else {
      const end = spanEnd(line, from, token);
      const span = line.slice(found.index, end);
      if (
        end === undefined ||
        (inTable && BARE_PIPE.test(span)) ||
        (token.length >= 3 && LOOKS_FENCED.test(line.slice(0, from)))
      ) {
        out += token.replaceAll('`', '\\`');
      } else {
        out += span;
        from = end;
        tokens.lastIndex = end;
      }
    }
  }
  return out + line.slice(from);
}

/**
 * What has to be put behind the beginning of `line` that `cut` shows (the last `…` is its own) so that a code span cut
 * in two is still one. `''` when the cut went through none.
 */
export function openSpan(cut: string, line: string): string {
  const tokens = new RegExp(TOKENS);
  for (let found = tokens.exec(cut); found; found = tokens.exec(cut)) {
    const [token] = found;
    if (!token.startsWith('`')) continue;
    const end = spanEnd(cut, tokens.lastIndex, token);
    if (end !== undefined) tokens.lastIndex = end;
    else if (line[tokens.lastIndex] !== '`' && spanEnd(line, tokens.lastIndex, token) !== undefined) return token;
  }
  return '';
}

interface Block extends Fence {
  readonly code: string[];
}

/** The line without the containers that the block's fence stands in, undefined when it is outside of them. */
function insideOf({ prefix }: Fence, line: string): string | undefined {
  let at = 0;
  for (const char of prefix) {
    if (char === '>') {
      if (line[at] !== '>') return undefined;
      at += 1;
    } else if (line[at] === ' ' || line[at] === '\t') at += 1;
  }
  return line.slice(at);
}

/**
 * The block with its own end. All its lines have one beginning, so that whoever reads the first as code, fenced or
 * indented, reads the others as code too. The blank line keeps the first from going on with a paragraph.
 */
function fencedLines({ prefix, mark, info, code }: Block): readonly string[] {
  const longest = Math.max(
    mark.length,
    ...code.flatMap((line) => line.match(/`+/g) ?? []).map((run) => run.length + 1),
  );
  const fence = '`'.repeat(longest);
  const inner = prefix.replace(/[^>]/g, ' ');
  const rest = [...code, fence].map((line) => (line === '' ? inner.trimEnd() : inner + line));
  return [...(prefix === '' ? [] : ['']), `${prefix}${fence}${LANGUAGE.exec(info)?.[0] ?? ''}`, ...rest];
}

/** Lines of markdown, already without live mentions, that hold no HTML and no code without an end. */
export function inertLines(lines: readonly string[]): readonly string[] {
  const inTable = lines.some((line) => line.includes('-') && DELIMITER_ROW.test(line));
  const out: string[] = [];
  let block: Block | undefined;
  const close = () => {
    if (block) out.push(...fencedLines(block));
    block = undefined;
  };
  for (const line of lines) {
    if (block) {
      const code = insideOf(block, line);
      if (code !== undefined) {
        if (closesFence(code, block)) close();
        else block.code.push(code);
        continue;
      }
      close();
    }
    const fence = fenceOf(line);
    if (fence) block = { ...fence, code: [] };
    else out.push(inertLine(line, inTable));
  }
  close();
  return out;
}
