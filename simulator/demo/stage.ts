import type { Atlassian } from '../atlassian.ts';
import { statusText, type Task, type TaskState } from '../client/a2a.ts';
import type { JiraClient } from '../client/jira-client.ts';
import type { LoggedRequest } from '../site/request-log.ts';
import type { Site } from '../site/site.ts';
import type { ServiceProcess } from './service-process.ts';
import type { Transcript } from './transcript.ts';

/** One part of the day. It plays, and claims in front of the reader what has to be true after it. */
export interface Scene {
  readonly title: string;
  play(stage: Stage): Promise<void>;
}

/** What the scenes play with. */
export interface Stage {
  readonly atlassian: Atlassian;
  readonly site: Site;
  /** Alice unless told. */
  readonly jira: JiraClient;
  readonly service: ServiceProcess;
  readonly show: Transcript;
  /** Shown either way; one that does not hold makes the whole demo fail. */
  claim(holds: boolean, text: string, seen?: string): void;
  /** Tasks that ended, with the person whose they are. The restart has to find them as they were. */
  readonly ended: { readonly as: string; readonly task: Task }[];
}

/** For what the rest of the scene cannot do without. */
export function need<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`there is no ${what}`);
  return value;
}

/** What is awaited, unless what goes on meanwhile fails or is over without it. */
export function during<T>(running: Promise<unknown>, awaited: Promise<T>): Promise<T> {
  const over = running.then((): never => {
    throw new Error('the call was over too early');
  });
  return Promise.race([awaited, over]);
}

/** `WORKING`, as people read it. */
export const shortState = (state: TaskState): string => state.slice('TASK_STATE_'.length);
export const stateOf = (task: Task | undefined): string => (task ? shortState(task.status.state) : 'no task');

/** What the site was asked about one work item and has answered, or was hung up on. */
export function requestsAbout(site: Site, key: string): readonly LoggedRequest[] {
  const id = site.records.item(key)?.id ?? key;
  return site
    .requests()
    .filter(
      ({ path, query }) =>
        path.split('/').some((part) => part === id || part === key) || query.jql?.includes(`"${key}"`),
    );
}

/** Prints a running task's words, each once. The final ones are quoted by whoever waits for them. */
export function narrate({ show }: Stage): (task: Task) => void {
  let last = '';
  return (task) => {
    const line = `${stateOf(task)}  ${statusText(task)}`;
    if (line !== last && task.status.state === 'TASK_STATE_WORKING') show.does('Agent', line);
    last = line;
  };
}

export function showEnd({ show }: Stage, task: Task | undefined, lines?: number): void {
  show.does('Agent', stateOf(task));
  show.quote(statusText(task), lines);
}
