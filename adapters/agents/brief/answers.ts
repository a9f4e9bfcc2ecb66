import { type Dossier, isDone } from './dossier.ts';
import type { Intent } from './intents.ts';
import { nextSteps } from './next-steps.ts';
import {
  subtaskProgress,
  whatBlocksIt,
  whatItIs,
  whatToDoNext,
  whenIsItDue,
  whereItStands,
  whoIsOnIt,
  whoTalkedLast,
} from './sections.ts';
import { dayOf, listed, plain } from './text.ts';

const FOLDED_DESCRIPTION_CHARS = 600;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The line every answer begins with. A later question finds by it what the conversation was about. */
export function headline({ issue }: Dossier): string {
  return `**${issue.key}** ${plain(issue.summary)}`;
}

const HEADLINE_KEY = /^\*\*([A-Z][A-Z0-9_]{1,254}-\d{1,19})\*\* /gm;

/** Keys of the headlines in one of our own answers. Quoted text cannot look like one. */
export function headlineKeys(answer: string): readonly string[] {
  return [...new Set([...answer.matchAll(HEADLINE_KEY)].flatMap((match) => match[1] ?? []))];
}

const ANSWERS: Readonly<Record<Exclude<Intent, 'summary'>, (dossier: Dossier, now: string) => string>> = {
  status: ({ issue }, now) => whereItStands(issue, now),
  who: ({ issue }) => `${capital(whoIsOnIt(issue))}.`,
  due: ({ issue }, now) => {
    const created = issue.created && `created ${dayOf(issue.created)}`;
    const updated = issue.updated && `last updated ${dayOf(issue.updated)}`;
    return `${capital([whenIsItDue(issue, now), created, updated].filter(Boolean).join(', '))}.`;
  },
  blockers: whatBlocksIt,
  subtasks: subtaskProgress,
  comments: whoTalkedLast,
  next: whatToDoNext,
};

/** Answers to what was asked, `''` when that was nothing in particular. */
export function answersTo(intents: readonly Intent[], dossier: Dossier, now: string): string {
  return intents.flatMap((intent) => (intent === 'summary' ? [] : [ANSWERS[intent](dossier, now)])).join('\n\n');
}

/** One paragraph that stands for the brief. */
function inShort(dossier: Dossier, now: string): string {
  const { issue, blockers, children } = dossier;
  const open = blockers.filter((blocker) => !isDone(blocker)).map((blocker) => blocker.key);
  return [
    whereItStands(issue, now),
    open.length === 0 ? '' : `Blocked by ${listed(open.slice(0, 5))}.`,
    children.length === 0 ? '' : `${children.filter(isDone).length} of ${children.length} subtasks done.`,
  ]
    .filter(Boolean)
    .join(' ');
}

function folded(dossier: Dossier): string {
  const parts = [
    whatItIs(dossier.issue, FOLDED_DESCRIPTION_CHARS),
    `**What blocks it**\n\n${whatBlocksIt(dossier)}`,
    `**Subtasks**\n\n${subtaskProgress(dossier)}`,
    `**Comments**\n\n${whoTalkedLast(dossier)}`,
  ];
  return `<details><summary>More about ${dossier.issue.key}</summary>\n\n${parts.join('\n\n')}\n\n</details>`;
}

/**
 * A comment's worth of markdown: the answers to what was asked, or a summary with the next steps, and the rest folded
 * away.
 */
export function commentDraft(intents: readonly Intent[], dossier: Dossier, now: string): string {
  const answers = answersTo(intents, dossier, now);
  const steps = nextSteps(dossier, now);
  const next = steps.length === 1 ? `Next: ${steps[0]}` : `Next:\n\n${whatToDoNext(dossier, now)}`;
  const lead = answers === '' ? `${inShort(dossier, now)}\n\n${next}` : answers;
  return [headline(dossier), lead, folded(dossier)].join('\n\n');
}

/** The short form for a conversation. */
export function chatAnswer(intents: readonly Intent[], dossier: Dossier, now: string): string {
  return `${headline(dossier)}\n\n${answersTo(intents, dossier, now)}`;
}
