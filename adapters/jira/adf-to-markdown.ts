import { escapeInline, escapeLineStart, withoutLiveMentions } from '../../core/markdown.ts';
import { attachment, card, codeSpan, inline, isInline } from './adf-inline.ts';
import { type AdfLimits, type AdfNode, label, readAdf } from './adf-node.ts';

const prefixed = (text: string, first: string, rest: string): string =>
  text
    .split('\n')
    .map((line, index) => (index === 0 ? first : line === '' ? rest.trimEnd() : rest) + line)
    .join('\n');

const quoted = (text: string): string => prefixed(text, '> ', '> ');
const joinLines = (text: string, separator: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(separator);
const oneLine = (nodes: readonly AdfNode[]): string => joinLines(inline(nodes), ' ');

function paragraph(nodes: readonly AdfNode[]): string {
  const lines = inline(nodes)
    .split('\n')
    .map((line) => escapeLineStart(line.trim()));
  // A hard break at either end shows as a backslash.
  return lines.filter((line) => line !== '').join('\\\n');
}

function heading(node: AdfNode): string {
  const level = node.attrs.level;
  const depth = typeof level === 'number' && level >= 1 && level <= 6 ? Math.trunc(level) : 3;
  // A run of # at the end would be read as the heading's closing marks.
  const text = escapeLineStart(oneLine(node.content)).replace(/(?<!#)#+$/, (run) => `\\${run}`);
  return text === '' ? '' : `${'#'.repeat(depth)} ${text}`;
}

function rawText(node: AdfNode): string {
  return node.type === 'hardBreak' ? '\n' : node.text + node.content.map(rawText).join('');
}

function codeBlock(node: AdfNode): string {
  const text = rawText(node).replace(/\r\n?/g, '\n');
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const language = /^[A-Za-z0-9+#._-]{1,30}$/.exec(label(node, 'language'))?.[0] ?? '';
  return `${fence}${language}\n${text}\n${fence}`;
}

const LIST_TYPES = new Set(['bulletList', 'orderedList', 'taskList', 'decisionList']);

function list(node: AdfNode): string {
  const order = node.attrs.order;
  let number = typeof order === 'number' && Number.isInteger(order) && order >= 0 && order < 1e8 ? order : 1;
  const lines: string[] = [];
  for (const item of node.content) {
    // ADF nests a task list beside the item it belongs to.
    if (LIST_TYPES.has(item.type)) {
      lines.push(prefixed(list(item), '  ', '  '));
      continue;
    }
    const marker = node.type === 'orderedList' ? `${number}. ` : '- ';
    number += 1;
    const indent = ' '.repeat(marker.length);
    const text = isInline(item) ? paragraph([item]) : blocks(item.content, true);
    lines.push(prefixed(badge(item) + text, marker, indent).trimEnd());
  }
  return lines.join('\n');
}

function badge(item: AdfNode): string {
  if (item.type === 'decisionItem') return 'Decision: ';
  if (item.type !== 'taskItem' && item.type !== 'blockTaskItem') return '';
  return item.attrs.state === 'DONE' ? '[x] ' : '[ ] ';
}

/** Blocks of a table cell on one line, since a row of a markdown table can have no second one. */
function cellText(nodes: readonly AdfNode[]): string {
  const texts: string[] = [];
  let run: AdfNode[] = [];
  const flush = () => {
    texts.push(oneLine(run));
    run = [];
  };
  for (const node of nodes) {
    if (isInline(node)) {
      run.push(node);
      continue;
    }
    flush();
    if (node.type === 'codeBlock') texts.push(codeSpan(rawText(node)));
    else if (LIST_TYPES.has(node.type))
      texts.push(node.content.map((item) => badge(item) + cellText(item.content)).join('; '));
    else if (node.content.length === 0) texts.push(joinLines(block(node), ' '));
    else texts.push(cellText(node.content));
  }
  flush();
  return texts.filter((text) => text !== '').join(' ');
}

function table(node: AdfNode): string {
  const rows = node.content
    .filter((row) => row.type === 'tableRow')
    .map((row) => row.content.flatMap((cell) => [tableCell(cell), ...extraColumns(cell)]));
  const width = Math.max(0, ...rows.map((row) => row.length));
  const [head, ...body] = rows;
  if (head === undefined || width === 0) return blocks(node.content);
  // Only the head needs every column: rows may be shorter, and filling thousands of them for one wide one has no end.
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const filled = Array.from({ length: width }, (_, column) => head[column] ?? '');
  return [line(filled), `|${' --- |'.repeat(width)}`, ...body.map(line)].join('\n');
}

/** A pipe ends a cell even inside a code span, unless an odd number of backslashes stands before it. */
const tableCell = (cell: AdfNode): string =>
  cellText(cell.content).replace(/(?<!\\)(\\*)\|/g, (all, slashes: string) =>
    slashes.length % 2 === 1 ? all : `${slashes}\\|`,
  );

function extraColumns(cell: AdfNode): readonly string[] {
  const span = cell.attrs.colspan;
  return typeof span === 'number' && span > 1 ? Array.from({ length: Math.min(span, 20) - 1 }, () => '') : [];
}

function titled(node: AdfNode, title: string): string {
  return [title === '' ? '' : `**${escapeInline(title)}**`, blocks(node.content)].filter(Boolean).join('\n\n');
}

function panel(node: AdfNode): string {
  const kind = /^[a-z]{1,20}$/.exec(label(node, 'panelType'))?.[0] ?? 'note';
  return quoted(titled(node, kind === 'custom' ? 'Note' : kind.charAt(0).toUpperCase() + kind.slice(1)));
}

const quotedBlocks = (node: AdfNode): string => {
  const inner = blocks(node.content);
  return inner === '' ? '' : quoted(inner);
};
const expand = (node: AdfNode): string => titled(node, label(node, 'title'));

const BLOCKS: Readonly<Record<string, (node: AdfNode) => string>> = {
  paragraph: (node) => paragraph(node.content),
  caption: (node) => paragraph(node.content),
  heading,
  codeBlock,
  bulletList: list,
  orderedList: list,
  taskList: list,
  decisionList: list,
  blockquote: quotedBlocks,
  panel,
  rule: () => '---',
  table,
  expand,
  nestedExpand: expand,
  media: attachment,
  blockCard: card,
  embedCard: card,
};

function block(node: AdfNode): string {
  const render = Object.hasOwn(BLOCKS, node.type) ? BLOCKS[node.type] : undefined;
  return render ? render(node) : blocks(node.content);
}

/** Can it follow a paragraph without a blank line? A numbered list only when it starts at 1. */
const interrupts = (node: AdfNode): boolean =>
  LIST_TYPES.has(node.type) && (node.type !== 'orderedList' || (node.attrs.order ?? 1) === 1);

/** Inline nodes among blocks make a paragraph of their own. `tight`: a nested list follows its line directly. */
function blocks(nodes: readonly AdfNode[], tight = false): string {
  let out = '';
  let run: AdfNode[] = [];
  const add = (text: string, separator: string) => {
    if (text !== '') out += out === '' ? text : separator + text;
  };
  const flush = () => {
    add(paragraph(run), '\n\n');
    run = [];
  };
  for (const node of nodes) {
    if (isInline(node)) {
      run.push(node);
      continue;
    }
    flush();
    add(block(node), tight && interrupts(node) ? '\n' : '\n\n');
  }
  flush();
  return out;
}

/**
 * A document in the Atlassian Document Format as markdown. Total: null, other types and broken documents give what
 * text there is, `''` when there is none. Nodes that are not known give their children. The result holds no HTML, no
 * live mention and no link but http, https and mailto.
 */
export function adfToMarkdown(document: unknown, limits?: AdfLimits): string {
  const root = readAdf(document, limits);
  return root === undefined ? '' : withoutLiveMentions(blocks([root])).trim();
}
