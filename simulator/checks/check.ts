import type { Atlassian } from '../atlassian.ts';
import { type Message, type RpcError, statusText, type Task } from '../client/a2a.ts';
import type { JiraClient } from '../client/jira-client.ts';
import type { WorkItem } from '../site/model.ts';
import type { NewWorkItem } from '../site/records.ts';
import type { Site } from '../site/site.ts';

/** One rule that a remote agent has to keep. */
export interface Check {
  /** `group.name`, what `only` and `skip` go by. */
  readonly id: string;
  /** The rule in one line, as the table shows it. */
  readonly rule: string;
  /** Takes tens of real seconds: most do whatever the time scale is, `unscaled` ones only when there is none. */
  readonly slow?: true | 'unscaled';
  /** Disturbs what others rely on: runs by itself after them, in the order of the list. */
  readonly alone?: true;
  /** Resolves with what was seen. Throws what `fail` or `skip` make, or whatever went wrong. */
  run(bench: Bench): Promise<string>;
}

/** What a check works with. Every check makes its own work items, so checks run side by side. */
export interface Bench {
  readonly atlassian: Atlassian;
  readonly site: Site;
  /** Alice on that site. */
  readonly client: JiraClient;
  readonly url: string;
  /** The longest silence of a stream. */
  readonly heartbeatMs: number;
  /** A new work item in SHOP (Alice and Bob see it) unless told. */
  item(fields?: Partial<NewWorkItem>): WorkItem;
  /** One that nothing is answered about before so many milliseconds are over. */
  slowItem(ms: number, fields?: Partial<NewWorkItem>): WorkItem;
  /**
   * The same on a site of its own, with the same people. For checks on what an agent keeps per installation and
   * person: a token that another check brought must not help this one, nor this one's spoil another.
   */
  apart(): Bench;
}

class CheckOutcome extends Error {
  readonly status: 'fail' | 'skip';
  constructor(status: 'fail' | 'skip', seen: string) {
    super(seen);
    this.status = status;
  }
}

export function fail(seen: string): never {
  throw new CheckOutcome('fail', seen);
}

/** For a rule that this agent gives no chance to look at. */
export function skip(seen: string): never {
  throw new CheckOutcome('skip', seen);
}

export function must(condition: boolean, seen: string): asserts condition {
  if (!condition) fail(seen);
}

/** What was heard of one piece of work. */
interface Heard {
  readonly task?: Task;
  readonly message?: Message;
  readonly error?: RpcError;
  readonly text?: string;
}

/**
 * The task, which is not one that failed. An agent that gives up on everything breaks few rules; a check goes on only
 * from work that was really taken up.
 */
export function mustWork({ task, error, text = '' }: Heard, what: string): Task {
  if (task === undefined)
    fail(`${what}: ${error ? `${error.code} ${brief(error.message)}` : `no task ${brief(text)}`}`);
  const { state } = task.status;
  const said = `${what}: ${state} "${brief(statusText(task))}"`;
  must(state !== 'TASK_STATE_FAILED', said);
  // An agent may have its reasons, but then there is nothing to look at.
  if (state === 'TASK_STATE_REJECTED') skip(said);
  return task;
}

/** The same, or a message for an answer. */
export function mustBeTaken(heard: Heard, what: string): string {
  return heard.message === undefined ? mustWork(heard, what).status.state : 'a message';
}

/** Nothing that Jira's strict client would refuse. */
export function mustBeClean(faults: readonly string[], where: string): void {
  const more = faults.length > 2 ? ` (and ${faults.length - 2} more)` : '';
  must(faults.length === 0, `${where}: ${faults.slice(0, 2).join('; ')}${more}`);
}

/** At most so much of a text, on one line. */
export function brief(text: string, chars = 80): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > chars ? `${line.slice(0, chars)}…` : line;
}

export function readOutcome(error: unknown): { readonly status: 'fail' | 'skip'; readonly seen: string } {
  if (error instanceof CheckOutcome) return { status: error.status, seen: error.message };
  return {
    status: 'fail',
    seen: brief(error instanceof Error ? `${error.name}: ${error.message}` : String(error), 160),
  };
}
