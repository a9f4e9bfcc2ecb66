import type { Issue } from '../../../core/ports/agent.ts';
import { blockedLinks, type Dossier, isDone, openQuestions, otherLinks, type Related } from './dossier.ts';
import { nextSteps } from './next-steps.ts';
import { dayOf, daysUntil, fromNow, listed, plain, plural, quote } from './text.ts';

/* The sections of a brief, each markdown that ends without a newline. `now` is ISO 8601. */

const DESCRIPTION_CHARS = 1_500;
const COMMENT_CHARS = 600;
const MAX_LINES = 20;
const MAX_QUESTIONS = 3;

/** `SHOP-3 Add a test (To Do, Bob Okafor, due 2026-12-01)` */
export function mentionOf(item: Related): string {
  const facts = [
    item.status && plain(item.status.name, 60),
    item.assignee && plain(item.assignee, 80),
    item.due && `due ${item.due}`,
  ];
  const known = facts.filter(Boolean).join(', ');
  return `${item.key} ${plain(item.summary, 120)}${known === '' ? '' : ` (${known})`}`;
}

function capped(lines: readonly string[]): string {
  const rest = lines.length - MAX_LINES;
  return [...lines.slice(0, MAX_LINES), ...(rest > 0 ? [`- … and ${rest} more`] : [])].join('\n');
}

export function whatItIs(issue: Issue, descriptionChars = DESCRIPTION_CHARS): string {
  const kind = [
    issue.type && `**${plain(issue.type, 60)}**`,
    issue.priority && `priority ${plain(issue.priority, 60)}`,
    issue.parent && `part of ${issue.parent.key} ${plain(issue.parent.summary, 120)}`,
  ].filter(Boolean);
  const labels = issue.labels.slice(0, 10).map((label) => plain(label, 60));
  const facts = [kind.join(', '), labels.length > 0 ? `labels ${listed(labels)}` : ''].filter(Boolean).join('; ');
  const text = issue.description === undefined ? 'It has no description.' : quote(issue.description, descriptionChars);
  return [facts === '' ? '' : `${facts}.`, text].filter(Boolean).join('\n\n');
}

export function whoIsOnIt(issue: Issue): string {
  const assignee = issue.assignee === undefined ? 'nobody is assigned' : `assigned to ${plain(issue.assignee, 80)}`;
  return issue.reporter === undefined ? assignee : `${assignee}, reported by ${plain(issue.reporter, 80)}`;
}

export function whenIsItDue(issue: Issue, now: string): string {
  if (issue.due === undefined) return 'no due date';
  const days = daysUntil(now, issue.due);
  return `due ${issue.due}${days === undefined || isDone(issue) ? '' : ` (${fromNow(days)})`}`;
}

export function whereItStands(issue: Issue, now: string): string {
  const updated = issue.updated && `last updated ${dayOf(issue.updated)}`;
  const status = issue.status === undefined ? 'Status unknown' : `**${plain(issue.status.name, 60)}**`;
  return `${[status, whoIsOnIt(issue), whenIsItDue(issue, now), updated].filter(Boolean).join(', ')}.`;
}

export function whatBlocksIt({ issue, blockers }: Dossier): string {
  const open = blockers.filter((blocker) => !isDone(blocker));
  const done = blockers.filter(isDone).map((blocker) => blocker.key);
  const waiting = blockedLinks(issue).filter((item) => !isDone(item));
  const others = otherLinks(issue).map((link) => `${plain(link.relation, 60)} ${link.key}`);
  return [
    open.length === 0
      ? 'No open item that you can see blocks it.'
      : `Blocked by ${plural(open.length, 'open item')}:\n\n${capped(open.map((blocker) => `- ${mentionOf(blocker)}`))}`,
    done.length === 0 ? '' : `Out of the way: ${listed(done.slice(0, MAX_LINES))}.`,
    waiting.length === 0 ? '' : `Waiting for it: ${listed(waiting.slice(0, MAX_LINES).map((item) => item.key))}.`,
    others.length === 0 ? '' : `Also linked: ${listed(others.slice(0, MAX_LINES))}.`,
  ]
    .filter(Boolean)
    .join('\n\n');
}

export function whoTalkedLast(dossier: Dossier): string {
  const { comments, answering, unread } = dossier;
  if (unread.includes('comments')) return 'The comments could not be read this time.';
  const last = comments[0];
  if (last === undefined) return answering ? 'Nobody else has commented.' : 'Nobody has commented.';
  const questions = openQuestions(dossier)
    .slice(0, MAX_QUESTIONS)
    .map(({ author, created, question }) => `- ${plain(author, 80)}, ${dayOf(created)}: ${plain(question)}`);
  return [
    `${plain(last.author, 80)} on ${dayOf(last.created)}:`,
    quote(last.body, COMMENT_CHARS),
    questions.length === 0 ? '' : `Asked and not answered by anybody else:\n\n${questions.join('\n')}`,
  ]
    .filter(Boolean)
    .join('\n\n');
}

export function subtaskProgress({ children, unread }: Dossier): string {
  if (children.length === 0) {
    return unread.includes('related') ? 'What belongs to it could not be read this time.' : 'It has no subtasks.';
  }
  const lines = children.map((child) => `- [${isDone(child) ? 'x' : ' '}] ${mentionOf(child)}`);
  return `${children.filter(isDone).length} of ${plural(children.length, 'subtask')} done.\n\n${capped(lines)}`;
}

export function whatToDoNext(dossier: Dossier, now: string): string {
  return nextSteps(dossier, now)
    .map((step, index) => `${index + 1}. ${step}`)
    .join('\n');
}
