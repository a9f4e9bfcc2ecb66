import { isObject, type Json, type JsonObject } from '../json.ts';
import { AGENT_ACCOUNT } from './people.ts';

/** Builders for the Atlassian Document Format, as far as the sample work items need them. */
export type AdfNode = JsonObject;

export const adfText = (text: string, ...marks: readonly JsonObject[]): AdfNode =>
  marks.length === 0 ? { type: 'text', text } : { type: 'text', text, marks };

export const strong: JsonObject = { type: 'strong' };
export const code: JsonObject = { type: 'code' };
export const linkTo = (href: string): JsonObject => ({ type: 'link', attrs: { href } });

const inline = (children: readonly (string | AdfNode)[]): readonly AdfNode[] =>
  children.map((child) => (typeof child === 'string' ? adfText(child) : child));

export const doc = (...content: readonly AdfNode[]): AdfNode => ({ type: 'doc', version: 1, content });
export const paragraph = (...children: readonly (string | AdfNode)[]): AdfNode => ({
  type: 'paragraph',
  content: inline(children),
});
export const heading = (level: number, text: string): AdfNode => ({
  type: 'heading',
  attrs: { level },
  content: [adfText(text)],
});
const items = (children: readonly (string | readonly AdfNode[])[]): readonly AdfNode[] =>
  children.map((child) => ({ type: 'listItem', content: typeof child === 'string' ? [paragraph(child)] : child }));
export const bulletList = (...children: readonly (string | readonly AdfNode[])[]): AdfNode => ({
  type: 'bulletList',
  content: items(children),
});
export const orderedList = (...children: readonly (string | readonly AdfNode[])[]): AdfNode => ({
  type: 'orderedList',
  attrs: { order: 1 },
  content: items(children),
});
export const codeBlock = (language: string, text: string): AdfNode => ({
  type: 'codeBlock',
  attrs: { language },
  content: [adfText(text)],
});
export const panel = (panelType: string, ...content: readonly AdfNode[]): AdfNode => ({
  type: 'panel',
  attrs: { panelType },
  content,
});
export const mention = (accountId: string, name: string): AdfNode => ({
  type: 'mention',
  attrs: {
    id: accountId,
    text: `@${name}`,
    accessLevel: '',
    ...(accountId === AGENT_ACCOUNT.accountId ? { userType: 'APP' } : {}),
  },
});

const row = (type: 'tableHeader' | 'tableCell', cells: readonly string[]): AdfNode => ({
  type: 'tableRow',
  content: cells.map((cell) => ({ type, attrs: {}, content: [paragraph(cell)] })),
});
/** The first row is the head. */
export const table = (head: readonly string[], ...rows: readonly (readonly string[])[]): AdfNode => ({
  type: 'table',
  attrs: { isNumberColumnEnabled: false, layout: 'default' },
  content: [row('tableHeader', head), ...rows.map((cells) => row('tableCell', cells))],
});
/** A node type that no converter has heard of, holding ordinary text. */
export const unknownNode = (...content: readonly AdfNode[]): AdfNode => ({
  type: 'futureWidget',
  attrs: { localId: 'f1' },
  content,
});

const BLOCKS = new Set(['paragraph', 'heading', 'codeBlock', 'tableRow']);

/** Text only, one line per block: what Jira puts into the message's `description`. */
export function adfToPlainText(node: Json | undefined): string {
  if (!isObject(node)) return '';
  if (node.type === 'text') return typeof node.text === 'string' ? node.text : '';
  const attrs = node.attrs;
  if (node.type === 'mention' && isObject(attrs)) return String(attrs.text ?? '');
  const content = Array.isArray(node.content) ? (node.content as readonly Json[]) : [];
  const inner = content.map(adfToPlainText).join('');
  return BLOCKS.has(String(node.type)) && !inner.endsWith('\n') ? `${inner}\n` : inner;
}

const MENTION = /\[@([^\]]+)\]\(~([^)]+)\)/g;

/** The comment that a person typed: paragraphs and mentions only. */
export function commentToAdf(markdown: string): AdfNode {
  const toParagraph = (line: string): AdfNode => {
    const children: (string | AdfNode)[] = [];
    let from = 0;
    for (const match of line.matchAll(MENTION)) {
      if (match.index > from) children.push(line.slice(from, match.index));
      children.push(mention(match[2] ?? '', match[1] ?? ''));
      from = match.index + match[0].length;
    }
    if (from < line.length) children.push(line.slice(from));
    return paragraph(...children);
  };
  return doc(...markdown.split('\n').map(toParagraph));
}
