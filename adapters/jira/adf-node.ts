import { clip } from '../../core/markdown.ts';

/** A node of the Atlassian Document Format as it really arrives: nothing about it is certain. */
export interface AdfNode {
  readonly type: string;
  readonly text: string;
  readonly attrs: Readonly<Record<string, unknown>>;
  readonly marks: readonly AdfNode[];
  readonly content: readonly AdfNode[];
}

export interface AdfLimits {
  /** Nesting; what lies deeper is left out and marked. */
  readonly depth: number;
  readonly nodes: number;
  /** Text taken from the document, in UTF-16 units. Markup comes on top. */
  readonly chars: number;
}

const ADF_LIMITS: AdfLimits = { depth: 40, nodes: 20_000, chars: 60_000 };

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const CUT: AdfNode = { type: 'text', text: '…', attrs: {}, marks: [], content: [] };

/**
 * Checks a document once and bounds it, so that the converter can trust shapes and recurse. Whatever is not a node is
 * left out; a document that is too deep, too wide or too long ends in `…`.
 */
export function readAdf(value: unknown, limits: AdfLimits = ADF_LIMITS): AdfNode | undefined {
  let nodes = limits.nodes;
  let chars = limits.chars;

  const children = (content: unknown, depth: number): readonly AdfNode[] => {
    const read: AdfNode[] = [];
    for (const child of listOf(content)) {
      if (nodes <= 0 || chars <= 0 || depth <= 0) {
        read.push(CUT);
        break;
      }
      const node = one(child, depth - 1);
      if (node) read.push(node);
    }
    return read;
  };

  const one = (candidate: unknown, depth: number): AdfNode | undefined => {
    nodes -= 1;
    if (!isFields(candidate) || typeof candidate.type !== 'string') return undefined;
    const whole = typeof candidate.text === 'string' ? candidate.text : '';
    const text = clip(whole, Math.max(0, chars));
    chars -= whole.length;
    const marks = listOf(candidate.marks).flatMap((mark) => {
      if (!isFields(mark) || typeof mark.type !== 'string') return [];
      return [{ ...CUT, type: mark.type, text: '', attrs: isFields(mark.attrs) ? mark.attrs : {} }];
    });
    return {
      type: candidate.type,
      text,
      attrs: isFields(candidate.attrs) ? candidate.attrs : {},
      marks: marks.slice(0, 10),
      content: children(candidate.content, depth),
    };
  };

  return one(value, limits.depth);
}

/** A text attribute, `''` when it is none, cut to a label's length. */
export function label(node: AdfNode, name: string): string {
  const value = node.attrs[name];
  return typeof value === 'string' ? clip(value.trim(), 300) : '';
}
