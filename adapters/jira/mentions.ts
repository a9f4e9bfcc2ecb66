import type { Mention } from '../../core/ports/agent.ts';
import { type AdfNode, label, readAdf } from './adf-node.ts';

const MAX_MENTIONS = 50;

/** Everybody whom a document in the Atlassian Document Format mentions. Total. */
export function mentionsOf(document: unknown): readonly Mention[] {
  const found: Mention[] = [];
  const visit = (node: AdfNode): void => {
    const id = node.type === 'mention' ? label(node, 'id') : '';
    if (id !== '' && found.length < MAX_MENTIONS) {
      found.push({ id, name: label(node, 'text').replace(/^@+/, ''), app: label(node, 'userType') === 'APP' });
    }
    for (const child of node.content) visit(child);
  };
  const root = readAdf(document);
  if (root) visit(root);
  return found;
}
