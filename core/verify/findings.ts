/**
 * The rules that hold for every database of this service, each in one sentence. A finding names the rule that is broken.
 * docs and operators go by these names, so they do not change.
 */
export const RULES = {
  integrity: 'The database file is whole.',
  schema: 'Tables and indices are those that the migrations made.',
  orphan: 'No row belongs to something that does not exist.',
  owner: 'Every task has an owner.',
  context: 'Every task has a context, and it is its owner’s.',
  sequence: 'Events are numbered 1, 2, 3 … and the task counts them.',
  unreadable: 'Every stored value can be read.',
  event: 'An event speaks of its task; the first one is the task as it was submitted.',
  frame: 'Every event fits one frame of the strictest client.',
  terminal: 'Nothing follows the event that ends a task.',
  transition: 'A task goes from state to state as the state machine allows.',
  timestamp: 'Status timestamps never go back.',
  snapshot: 'The task is what its events add up to.',
  artifact: 'Artifacts hold what the events showed of them.',
  history: 'Messages are numbered 1, 2, 3 …, the task counts them, and there is a first one.',
  execution: 'Every message of a user has its execution, every execution its message.',
  'open-execution': 'A task that works has a turn to run, one that has ended or waits for somebody has none.',
  attempt: 'Attempts of a turn are numbered 1, 2, 3 …, one for each time that it was claimed.',
  outcome: 'What is said of the end of a turn is said of turns that have ended.',
  pause: 'Turns that wait are held back while their tenant is paused, and only then.',
  lease: 'Only open executions are leased, one of a task at a time.',
  'stale-lease': 'A lease that ran out is claimed again or given up.',
  deadline: 'Every task that has not ended has a deadline.',
  overdue: 'A task ends when its deadline has passed.',
  parked: 'A task that is parked for a token waits in AUTH_REQUIRED with the turn that goes on.',
  step: 'A step belongs to an execution, and is finished when it has a result.',
  request: 'A request row names a task of the same caller and an event of it.',
  'push-config': 'A receiver of notifications has an id and a web address, and a task has so many of them at most.',
  audit: 'What operators did is numbered 1, 2, 3 …, and says who did what to whom.',
  exclusive: 'An exclusive context has at most one task that has not ended.',
  lane: 'Every lane counts what its tenant has waiting and running, and every turn to run is in the lane of its tenant.',
  credential: 'A user’s token is kept sealed, until it expires, and only while a task of that user has not ended.',
  tenant: 'A tenant is active, or was removed at some time.',
  'removed-tenant': 'Nothing is left of a removed tenant.',
} as const;

export type Rule = keyof typeof RULES;

export interface Finding {
  readonly rule: Rule;
  readonly taskId?: string;
  /** Numbers, states and ids. Never a text of a user or an agent. */
  readonly detail: string;
}

/** One that breaks a rule often is described this often, then counted. */
const SHOWN_PER_RULE = 3;

export interface TaskReport {
  (rule: Rule, detail: string): void;
  /** Says how many findings were left out. */
  close(): void;
}

/** Reports of one task: a rule that is broken a thousand times does not make a thousand lines. */
export function createTaskReport(taskId: string, report: (finding: Finding) => void): TaskReport {
  const counts = new Map<Rule, number>();
  const add = (rule: Rule, detail: string): void => {
    const count = (counts.get(rule) ?? 0) + 1;
    counts.set(rule, count);
    if (count <= SHOWN_PER_RULE) report({ rule, taskId, detail });
  };
  return Object.assign(add, {
    close: () => {
      for (const [rule, count] of counts) {
        if (count > SHOWN_PER_RULE) report({ rule, taskId, detail: `and ${count - SHOWN_PER_RULE} more` });
      }
    },
  });
}

/** An id or key in a finding: quoted, so that nothing in it can pass for something else, and short. */
export function quoted(id: string): string {
  return JSON.stringify(id.length > 64 ? `${id.slice(0, 64)}…` : id);
}
