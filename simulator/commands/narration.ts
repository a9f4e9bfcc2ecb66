import {
  artifactText,
  endsStream,
  messageText,
  type StreamResponse,
  statusText,
  type Task,
  type TaskState,
} from '../client/a2a.ts';
import type { LifecycleAttempt } from '../client/lifecycle.ts';
import type { Miss } from '../client/polling.ts';

/*
 * What a command prints while it goes on. A line for every change, at once; whatever Jira would wait for is said when
 * the waiting begins, and a long wait says now and then that it is one.
 */
export type Print = (line: string) => void;

const MAX_LINES = 20;
const SILENCE_MS = 20_000;

const short = (state: TaskState): string => state.replace('TASK_STATE_', '').toLowerCase();
const indent = (text: string): string => text.replace(/^(?=.)/gm, '    ');
export const seconds = (ms: number): string => `${ms < 10_000 ? Math.ceil(ms / 100) / 10 : Math.round(ms / 1_000)} s`;

/** The beginning of a long text with its folds closed, and how to see the rest. */
function shortened(text: string): string {
  const closed = text.replace(
    /<details[^>]*>\s*<summary>(.*?)<\/summary>[\s\S]*?<\/details>/g,
    '[folded: $1; --full shows it]',
  );
  const lines = closed.trimEnd().split('\n');
  const rest = lines.length - MAX_LINES;
  return rest <= 0
    ? lines.join('\n')
    : [...lines.slice(0, MAX_LINES), `… ${rest} more lines, --full shows them`].join('\n');
}

/** What an answer with another status than 200 means for the person at this terminal. */
export function explainStatus(status: number, url: string): string {
  if (status === 401)
    return 'HTTP 401: the agent does not trust this simulator: compare FORGE_APP_ID, FORGE_JWKS_URL and ROVO_API_HOSTS with what npm run simulator printed; its log says why (rovo.refused). A simulator that has just been started has a new key, which this service looks for 30 s after its last look';
  if (status === 403) return 'HTTP 403: the agent, or something in front of it, forbids the call';
  if (status === 404)
    return `HTTP 404: no agent at this path (${url}); is it …/rovo/a2a, and is FORGE_APP_ID set there?`;
  if (status === 503) return 'HTTP 503: not ready, or it cannot reach the key set; its log says which';
  return `HTTP ${status}`;
}

export interface NarrationOptions {
  readonly print: Print;
  readonly url: string;
  readonly full: boolean;
  /** Who acts, as `--as` takes it. */
  readonly person: string;
  /** Options that another terminal needs to reach the same simulator and agent, with a space in front, or ''. */
  readonly sameOptions: string;
}

export interface Narration {
  print(line: string): void;
  /** A task as a whole or a polled one; prints what has changed. */
  task(task: Task): void;
  frame(frame: StreamResponse): void;
  miss(miss: Miss): void;
  attempt(attempt: LifecycleAttempt, nextMs?: number): void;
  end(task: Task | undefined): void;
  faults(faults: readonly string[]): void;
  close(): void;
}

export function createNarration(options: NarrationOptions): Narration {
  const { url, full, person, sameOptions } = options;
  const startedAt = performance.now();
  let saidAt = startedAt;
  let taskId = '';
  let lastStatus = '';
  let lastMiss = '';
  const print = (line: string): void => {
    saidAt = performance.now();
    options.print(line);
  };
  const silence = setInterval(() => {
    if (performance.now() - saidAt >= SILENCE_MS)
      print(
        `  … ${lastStatus === '' ? 'no answer yet' : 'nothing new'} after ${seconds(performance.now() - startedAt)}`,
      );
  }, 1_000);
  silence.unref();

  const status = (state: TaskState, text: string): void => {
    lastMiss = '';
    if (lastStatus === `${state} ${text}`) return;
    lastStatus = `${state} ${text}`;
    if (state === 'TASK_STATE_AUTH_REQUIRED') {
      print(`  ${short(state)}, what the person reads:\n${indent(text)}`);
      print(
        `  It waits for another user token of ${person}. From a second terminal: npm run simulator -- get ${taskId} --as ${person} --user-token fresh${sameOptions}`,
      );
      return;
    }
    // Where it stops, the whole text follows: see `end`.
    if (!endsStream(state)) print(`  ${short(state)}${text === '' ? '' : `: ${text.split('\n')[0]}`}`);
  };

  const explained = (seen: string): string => {
    const http = /^HTTP (\d+)$/.exec(seen)?.[1];
    return http === undefined ? seen : explainStatus(Number(http), url);
  };

  const task = (seen: Task): void => {
    if (seen.id !== taskId) print(`task ${seen.id}  context ${seen.contextId}`);
    taskId = seen.id;
    status(seen.status.state, statusText(seen));
  };

  return {
    print,
    task,
    frame(frame) {
      if (frame.task) task(frame.task);
      if (frame.message) print(`message: ${messageText(frame.message)}`);
      if (frame.statusUpdate) {
        const { state, message } = frame.statusUpdate.status;
        status(state, messageText(message));
      }
      if (frame.artifactUpdate) {
        const { artifact, append } = frame.artifactUpdate;
        const chars = artifact.parts.reduce((sum, part) => sum + (part.text?.length ?? 0), 0);
        print(`  artifact ${artifact.artifactId} ${append ? '+' : '='} ${chars} characters`);
      }
    },
    miss({ seen, nextMs, leftMs }) {
      if (seen === lastMiss) return;
      lastMiss = seen;
      const next = nextMs === 0 ? 'resumed at once' : `asked again every ${seconds(nextMs)}`;
      print(`  ! ${explained(seen)}: ${next}, for ${seconds(leftMs)} more`);
    },
    attempt({ status: http, elapsedMs }, nextMs) {
      const seen = http === 0 ? 'nothing came' : http < 300 ? `HTTP ${http}` : explainStatus(http, url);
      print(
        `${seen}, after ${Math.round(elapsedMs)} ms${nextMs === undefined ? '' : `; next try in ${seconds(nextMs)}`}`,
      );
    },
    end(seen) {
      if (!seen) return;
      const cut = full ? (text: string) => text : shortened;
      const artifact = artifactText(seen);
      if (artifact !== '') print(`  artifacts:\n${indent(cut(artifact))}`);
      const text = statusText(seen);
      const { state } = seen.status;
      if (!endsStream(state)) return;
      const offered = state === 'TASK_STATE_COMPLETED' && text !== '' ? ', offered as a comment' : '';
      print(`  ${short(state)}${offered}${text === '' ? '' : `:\n${indent(cut(text))}`}`);
    },
    faults(faults) {
      for (const fault of new Set(faults)) {
        const text = explained(fault);
        print(text === fault ? `  ! Jira's client would refuse: ${fault}` : `  ! ${text}`);
      }
    },
    close: () => clearInterval(silence),
  };
}
