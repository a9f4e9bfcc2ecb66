import type { JiraErrorReason } from '../../core/ports/agent.ts';

/** Outward texts: nothing of the request, the answer or the token is in them. */
const TEXTS = {
  'not-found': 'The work item does not exist, or you have no permission to see it.',
  forbidden: 'Jira does not allow this app, or you, to read that.',
  'rate-limited': 'Jira is answering too many requests right now. Please try again in a few minutes.',
  invalid: 'Jira did not take the request, or its answer could not be used.',
  unavailable: 'Jira could not be reached or had a problem of its own. Please try again.',
} as const satisfies Record<JiraErrorReason, string>;

/** Why Jira gave no answer. Recognised by name and reason, so that an agent needs no import. */
export class JiraError extends Error {
  override readonly name = 'JiraError';
  readonly reason: JiraErrorReason;

  constructor(reason: JiraErrorReason, cause?: unknown) {
    super(TEXTS[reason], { cause });
    this.reason = reason;
  }
}
