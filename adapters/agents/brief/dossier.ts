import type { Comment, Issue, Jira, JiraErrorReason, LinkedIssue } from '../../../core/ports/agent.ts';
import { isToAgent, withoutCall } from './addressed.ts';
import { spoken } from './text.ts';

/** Another work item as far as an answer needs it. */
export interface Related extends LinkedIssue {
  readonly assignee?: string;
  readonly due?: string;
}

/** All that was read about one work item. */
export interface Dossier {
  readonly issue: Issue;
  readonly blockers: readonly Related[];
  readonly children: readonly Related[];
  /** Newest first, without the one that this brief answers. */
  readonly comments: readonly Comment[];
  /** Those of them that people wrote to each other, not to an agent. */
  readonly talk: readonly Comment[];
  /** Is the comment that this brief answers on this item? */
  readonly answering: boolean;
  /** Parts that Jira would not give this time; the brief says so instead of guessing. */
  readonly unread: readonly ('comments' | 'related')[];
}

const COMMENTS = 30;
const RELATED = 50;
const RELATED_FIELDS = ['summary', 'status', 'assignee', 'duedate'] as const;
const KEY = /^[A-Z][A-Z0-9_]{1,254}-\d{1,19}$/;
const BLOCKED_BY = /\b(?:blocked by|depends on|waits? (?:for|on)|requires)\b/i;
const BLOCKS = /\b(?:blocks|is (?:depended on|required) by)\b/i;

export const isDone = (item: LinkedIssue | Issue): boolean => item.status?.category === 'done';

export function blockerLinks(issue: Issue): readonly LinkedIssue[] {
  return issue.links.filter((link) => BLOCKED_BY.test(link.relation));
}

export function blockedLinks(issue: Issue): readonly LinkedIssue[] {
  return issue.links.filter((link) => BLOCKS.test(link.relation) && !BLOCKED_BY.test(link.relation));
}

export function otherLinks(issue: Issue): Issue['links'] {
  return issue.links.filter((link) => !BLOCKED_BY.test(link.relation) && !BLOCKS.test(link.relation));
}

/** Why Jira said no, undefined when the error is something else and has to pass. */
export function refusalOf(error: unknown): JiraErrorReason | undefined {
  if (!(error instanceof Error) || error.name !== 'JiraError' || !('reason' in error)) return undefined;
  return error.reason as JiraErrorReason;
}

/** What is beside the point must not cost the answer: a refusal gives undefined. */
async function ifGiven<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (refusalOf(error) === undefined) throw error;
    return undefined;
  }
}

const related = (found: Issue): Related => ({
  id: found.id,
  key: found.key,
  summary: found.summary,
  ...(found.status && { status: found.status }),
  ...(found.assignee !== undefined && { assignee: found.assignee }),
  ...(found.due !== undefined && { due: found.due }),
});

/**
 * What blocks the item and what belongs to it, with who works on it. An epic's items are found by search only; a query
 * holds keys that Jira itself gave, never words.
 */
export async function readRelated(
  jira: Jira,
  issue: Issue,
): Promise<Pick<Dossier, 'blockers' | 'children' | 'unread'>> {
  const query = (jql: string) => ifGiven(jira.search(jql, { limit: RELATED, fields: RELATED_FIELDS }));
  const links = blockerLinks(issue);
  const keys = links
    .map((link) => link.key)
    .filter((key) => KEY.test(key))
    .slice(0, RELATED);
  const found = await query(`parent = "${KEY.test(issue.key) ? issue.key : issue.id}" order by created`);
  const details = keys.length === 0 ? [] : await query(`key in ("${keys.join('", "')}")`);
  const withDetails = (linked: LinkedIssue): Related => {
    const detail = details?.find((one) => one.key === linked.key);
    return detail ? related(detail) : linked;
  };
  const children = found === undefined || found.length === 0 ? issue.subtasks : found.map(related);
  return { blockers: links.map(withDetails), children, unread: found === undefined ? ['related'] : [] };
}

/** What tells comments to the agent from others. */
export interface Reader {
  /** Our own accounts. */
  readonly accounts: ReadonlySet<string>;
  /** Id of the comment that is being answered. */
  readonly answering?: string;
}

export async function readComments(
  jira: Jira,
  issue: Issue,
  { accounts, answering }: Reader,
): Promise<Pick<Dossier, 'comments' | 'talk' | 'answering' | 'unread'>> {
  const read = await ifGiven(jira.comments(issue.id, { limit: COMMENTS }));
  const all = (read ?? []).slice(0, COMMENTS);
  const comments = all.filter(({ id }) => id !== answering);
  const talk = comments.filter((comment) => !isToAgent(comment, accounts));
  return { comments, talk, answering: comments.length < all.length, unread: read === undefined ? ['comments'] : [] };
}

export interface OpenQuestion {
  readonly author: string;
  readonly created: string;
  /** Plain text. */
  readonly question: string;
}

/** Questions of people to people that nobody but their author has followed up. */
export function openQuestions({ talk }: Pick<Dossier, 'talk'>): readonly OpenQuestion[] {
  return talk.flatMap((comment, index) => {
    if (talk.slice(0, index).some((later) => later.author !== comment.author)) return [];
    const sentences = spoken(comment.body).split(/(?<=[.!?])\s+|\n/);
    const question = sentences.find((sentence) => sentence.endsWith('?') && sentence.length > 2);
    if (question === undefined) return [];
    return [{ author: comment.author, created: comment.created, question: withoutCall(question, comment) }];
  });
}
