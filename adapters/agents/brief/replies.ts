import type { JiraErrorReason, Update } from '../../../core/ports/agent.ts';
import { listed } from './text.ts';

/* Fixed texts. What Jira would not show is never described, only what the user asked for. */

/** No headline of ours may appear here: see `headlineKeys`. */
export const HOW_TO = `I read Jira work items with your own permissions and say in short what they are, where they stand, what blocks them, who talked last and what to do next.

- Assign a work item to me, and I write a brief of it.
- Mention me in a comment and ask: what blocks this, who is on it, when is it due, what is next?
- In chat or in an automation rule, name up to five work items by their keys, for example "What blocks ABC-123?"`;

export const ASK_WHICH: Update = {
  state: 'TASK_STATE_INPUT_REQUIRED',
  message: 'Which work item do you mean? Tell me its key, for example ABC-123.',
};

export const NO_JIRA: Update = {
  state: 'TASK_STATE_COMPLETED',
  message: `${HOW_TO}\n\nThis call came without access to Jira, so there is nothing I can look up. Call me from Jira or Rovo.`,
};

export const NOTHING_NAMED: Update = { state: 'TASK_STATE_COMPLETED', message: HOW_TO };

export interface Refusal {
  readonly shown: string;
  readonly reason: JiraErrorReason;
}

const REASONS: Readonly<Record<JiraErrorReason, string>> = {
  'not-found': 'it does not exist, or you have no permission to see it',
  forbidden: 'Jira does not allow this app, or you, to read it',
  'rate-limited': 'Jira is answering too many requests right now, please try again in a few minutes',
  unavailable: 'Jira did not answer, please try again',
  invalid: 'Jira did not take the request, or its answer could not be used',
};

/** One sentence for each reason. */
export function refusalText(refusals: readonly Refusal[]): string {
  const reasons = [...new Set(refusals.map(({ reason }) => reason))];
  return reasons
    .map((reason) => {
      const shown = refusals.filter((refusal) => refusal.reason === reason).map((refusal) => refusal.shown);
      return `I cannot open ${listed(shown)}: ${REASONS[reason]}.`;
    })
    .join(' ');
}

/**
 * Nothing could be read. REJECTED when that is how it is for this user, FAILED when it may work another time; neither
 * is offered as a comment.
 */
export function nothingRead(refusals: readonly Refusal[]): Update {
  const final = refusals.every(({ reason }) => reason === 'not-found');
  return { state: final ? 'TASK_STATE_REJECTED' : 'TASK_STATE_FAILED', message: refusalText(refusals) };
}
