import { type Dossier, isDone, openQuestions } from './dossier.ts';
import { dayOf, daysUntil, fromNow, listed, plain, plural } from './text.ts';

const MAX_STEPS = 4;
const SOON_DAYS = 3;
const STALE_DAYS = 30;

function whenDone(dossier: Dossier): readonly string[] {
  const open = dossier.children.filter((child) => !isDone(child)).map((child) => child.key);
  if (open.length === 0) return ['Nothing: it is done.'];
  return [
    `It is done, but ${listed(open.slice(0, 5))} ${open.length === 1 ? 'is' : 'are'} still open: close or move ${open.length === 1 ? 'it' : 'them'}.`,
  ];
}

function aboutDates({ issue }: Dossier, now: string): string | undefined {
  const days = issue.due === undefined ? undefined : daysUntil(now, issue.due);
  if (days === undefined || days > SOON_DAYS) return undefined;
  if (days < 0) return `It was due ${fromNow(days)}: finish it or agree on a new date.`;
  return issue.status?.category === 'new'
    ? `It is due ${fromNow(days)} and not started: start it or move the date.`
    : `It is due ${fromNow(days)}: finish it first.`;
}

/**
 * What somebody who knows only what Jira says would do next, most urgent first, at least one and at most four lines of
 * markdown. Plain rules, so that the same work item always gets the same advice.
 */
export function nextSteps(dossier: Dossier, now: string): readonly string[] {
  const { issue, blockers, children } = dossier;
  if (isDone(issue)) return whenDone(dossier);
  const steps: (string | undefined)[] = [];
  const open = blockers.filter((blocker) => !isDone(blocker));
  if (open.length > 0) {
    const named = open
      .slice(0, 3)
      .map((one) => (one.assignee === undefined ? one.key : `${one.key} with ${plain(one.assignee, 80)}`));
    steps.push(`Clear what blocks it: ${listed(named)}${open.length > 3 ? ` and ${open.length - 3} more` : ''}.`);
  }
  if (issue.assignee === undefined) steps.push('Find somebody to take it: nobody is assigned.');
  steps.push(aboutDates(dossier, now));
  const question = openQuestions(dossier)[0];
  if (question)
    steps.push(
      `Answer ${plain(question.author, 80)}, who asked on ${dayOf(question.created)}: ${plain(question.question, 160)}`,
    );
  const child = children.find((one) => !isDone(one));
  if (child) steps.push(`Go on with ${child.key} ${plain(child.summary, 120)}.`);
  if (issue.description === undefined) steps.push('Describe it: there is no description to work from.');
  const idleDays = issue.updated === undefined ? 0 : -(daysUntil(now, issue.updated) ?? 0);
  if (idleDays >= STALE_DAYS)
    steps.push(`Check whether it still matters: nothing happened for ${plural(idleDays, 'day')}.`);
  if (children.length > 0 && child === undefined) steps.push('Close it if that was all: every subtask is done.');
  const found = steps.filter((step) => step !== undefined);
  if (found.length > 0) return found.slice(0, MAX_STEPS);
  return [
    issue.status?.category === 'new' ? 'Start it: nothing stands in the way.' : 'Go on: nothing stands in the way.',
  ];
}
