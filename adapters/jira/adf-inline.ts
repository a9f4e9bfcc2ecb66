import { escapeInline } from '../../core/markdown.ts';
import { type AdfNode, label } from './adf-node.ts';

const MAX_URL_CHARS = 2_000;
const SAFE_PROTOCOLS = new Set(['http:', 'https:', 'mailto:']);

/** A destination that can stand inside `(…)`, undefined for anything a click should not open. */
export function safeHref(href: unknown): string | undefined {
  if (typeof href !== 'string' || href.length > MAX_URL_CHARS || !URL.canParse(href.trim())) return undefined;
  const url = new URL(href.trim());
  if (!SAFE_PROTOCOLS.has(url.protocol)) return undefined;
  return url.href.replace(
    /[()<>\\|`\s]/g,
    (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  );
}

/** A code span whose fence is longer than every run of backticks in it. */
export function codeSpan(text: string): string {
  const line = text.replace(/[\r\n]+/g, ' ');
  if (line.trim() === '') return '';
  const fence = '`'.repeat(Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length)) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** Markers cling to the text: `** a **` would not be bold. */
function wrap(inner: string, marker: string): string {
  const text = inner.trim();
  if (text === '') return inner;
  const from = inner.length - inner.trimStart().length;
  return `${inner.slice(0, from)}${marker}${text}${marker}${inner.slice(from + text.length)}`;
}

function link(text: string, href: unknown): string {
  const target = safeHref(href);
  return target === undefined || text.trim() === '' ? text : `[${text}](${target})`;
}

function day(timestamp: unknown): string {
  const ms = typeof timestamp === 'string' && timestamp.trim() !== '' ? Number(timestamp) : timestamp;
  // Years 1 to 9999, which is what a date of ten characters can say.
  if (typeof ms !== 'number' || !(ms >= -62_135_596_800_000 && ms < 253_402_300_800_000)) return '';
  return new Date(ms).toISOString().slice(0, 10);
}

const orElse = (text: string, otherwise: string): string => (text === '' ? otherwise : text);

/** What a media node may say without the file: its alternative text or name. */
export function attachment(node: AdfNode): string {
  const name = orElse(label(node, 'alt'), label(node, '__fileName'));
  return escapeInline(name === '' ? '(attachment)' : `(attachment: ${name})`);
}

export function card(node: AdfNode): string {
  const url = node.attrs.url ?? (node.attrs.data as { url?: unknown } | null | undefined)?.url;
  return typeof url === 'string' ? link(escapeInline(url), url) : '';
}

const LEAVES: Readonly<Record<string, (node: AdfNode) => string>> = {
  text: (node) => escapeInline(node.text),
  hardBreak: () => '\n',
  // The plain name: whoever reads this text must not be able to notify people through us.
  mention: (node) => orElse(escapeInline(label(node, 'text').replace(/^@+/, '')), 'somebody'),
  emoji: (node) => escapeInline(orElse(label(node, 'text'), label(node, 'shortName'))),
  date: (node) => day(node.attrs.timestamp),
  status: (node) => (label(node, 'text') === '' ? '' : escapeInline(`[${label(node, 'text')}]`)),
  placeholder: () => '',
  inlineCard: card,
  blockCard: card,
  embedCard: card,
  media: attachment,
  mediaInline: attachment,
};

export function isInline(node: AdfNode): boolean {
  return Object.hasOwn(LEAVES, node.type) && !['blockCard', 'embedCard', 'media'].includes(node.type);
}

// Outermost first. Underline, colors and whatever comes next year have no markdown: their text stays.
const MARKERS: readonly (readonly [string, (inner: string, mark: AdfNode) => string])[] = [
  ['link', (inner, mark) => link(inner, mark.attrs.href)],
  ['strike', (inner) => wrap(inner, '~~')],
  ['strong', (inner) => wrap(inner, '**')],
  ['em', (inner) => wrap(inner, '*')],
];

/**
 * Puts pieces one after the other and keeps apart what would mean something else together: `!` and a link make an
 * image, two code spans one broken one. Only neighbours are looked at: asking the text so far how it ends would copy
 * all of it for each piece.
 */
function joined(pieces: readonly string[]): string {
  const out: string[] = [];
  for (const piece of pieces) {
    if (piece === '') continue;
    const before = out.at(-1) ?? '';
    if (before.endsWith('!') && piece.startsWith('[')) out[out.length - 1] = `${before.slice(0, -1)}\\!`;
    else if (before.endsWith('`') && piece.startsWith('`')) out.push(' ');
    out.push(piece);
  }
  return out.join('');
}

const isCode = (node: AdfNode | undefined): node is AdfNode =>
  node?.type === 'text' && node.marks.some((mark) => mark.type === 'code');

function leaf(node: AdfNode): string {
  const render = Object.hasOwn(LEAVES, node.type) ? LEAVES[node.type] : undefined;
  return render ? render(node) : inline(node.content);
}

/** Code texts that touch are one span. */
function leaves(nodes: readonly AdfNode[]): string {
  const pieces: string[] = [];
  for (let at = 0; at < nodes.length; at += 1) {
    let code = '';
    for (let node = nodes[at]; isCode(node); node = nodes[at]) {
      code += node.text;
      at += 1;
    }
    pieces.push(codeSpan(code));
    const node = nodes[at];
    if (node) pieces.push(leaf(node));
  }
  return joined(pieces);
}

/**
 * Neighbours that share a mark are wrapped together: `**a *b***`, not `**a*****b***`, which nobody can parse. Line
 * breaks inside come out as a newline; the caller decides what they become.
 */
function marked(nodes: readonly AdfNode[], level: number): string {
  const [type, render] = MARKERS[level] ?? [];
  if (type === undefined || render === undefined) return leaves(nodes);
  const markOf = (node: AdfNode) => node.marks.find((mark) => mark.type === type);
  const pieces: string[] = [];
  for (let at = 0; at < nodes.length; ) {
    const first = nodes[at];
    const mark = first && markOf(first);
    let end = at + 1;
    for (; end < nodes.length; end += 1) {
      const node = nodes[end];
      const other = node && markOf(node);
      if ((other === undefined) !== (mark === undefined) || other?.attrs.href !== mark?.attrs.href) break;
    }
    const inner = marked(nodes.slice(at, end), level + 1);
    pieces.push(mark ? render(inner, mark) : inner);
    at = end;
  }
  return joined(pieces);
}

/** Inline nodes as markdown; a hard break is a newline. */
export function inline(nodes: readonly AdfNode[]): string {
  return marked(nodes, 0);
}
