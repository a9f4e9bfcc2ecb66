/*
 * What a renderer would bring to life in markdown, read here apart from the code under test: code blocks, then code
 * spans over whole paragraphs with backslashes counted, and table rows once more cell by cell.
 */

const OPENS = /^(?:[\s>]|[-*+](?=\s)|\d{1,9}[.)](?=\s))*(`{3,}|~{3,})[^`]*$/;

function proseOf(lines: readonly string[]): readonly string[] {
  const paragraphs: string[] = [];
  const prose: string[] = [];
  let fence: string | undefined;
  const flush = () => paragraphs.push(prose.splice(0).join('\n'));
  for (const line of lines) {
    const opened: string | undefined = fence === undefined ? OPENS.exec(line)?.[1] : undefined;
    if (fence !== undefined) {
      const run = /^[\s>]*(`{3,}|~{3,})\s*$/.exec(line)?.[1];
      if (run?.startsWith(fence)) fence = undefined;
    } else if (opened !== undefined) {
      flush();
      fence = opened;
    } else if (/^[\s>]*$/.test(line)) flush();
    else prose.push(line);
  }
  flush();
  return paragraphs;
}

function faultsOf(prose: string, whole: boolean): readonly string[] {
  const faults: string[] = [];
  for (let at = 0; at < prose.length; ) {
    const rest = prose.slice(at);
    const run = /^`+/.exec(rest)?.[0];
    if (run !== undefined) {
      const close = [...rest.slice(run.length).matchAll(/`+/g)].find((other) => other[0].length === run.length);
      if (close === undefined && whole) faults.push(`an open span: ${rest}`);
      at += close === undefined ? run.length : run.length + close.index + run.length;
      continue;
    }
    if (/^<[A-Za-z/!?]/.test(rest)) faults.push(`a tag: ${rest}`);
    if (/^\]\([\s>]*<?\\?~/.test(rest) || /^\[~[^\]\s]{1,256}\]/.test(rest)) faults.push(`a mention: ${rest}`);
    at += /^\\[!-/:-@[-`{-~]/.test(rest) ? 2 : 1;
  }
  return faults;
}

/** Everything live in a quote, described; nothing is what it ought to be. */
export function liveMarkup(quoted: string): readonly string[] {
  const lines = quoted.split('\n');
  const outside = lines.filter((line) => line !== '>' && !line.startsWith('> '));
  const inner = lines.map((line) => line.replace(/^> ?/, ''));
  const hasTable = inner.some((line) => /^[\s>*+.)\d|:-]*$/.test(line) && line.includes('-'));
  return [
    ...outside.map((line) => `outside of the quote: ${line}`),
    ...proseOf(inner).flatMap((prose) => [
      ...faultsOf(prose, true),
      ...(hasTable ? prose.split(/(?<!\\)(?:\\\\)*\||\n/) : []).flatMap((cell) => faultsOf(cell, false)),
    ]),
  ];
}
