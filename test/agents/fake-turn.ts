import type { Message } from '../../core/message.ts';
import { textOf } from '../../core/message.ts';
import type { Agent, Capabilities, Jira, Turn, Update } from '../../core/ports/agent.ts';
import type { Task } from '../../core/task.ts';

export const STARTED = '2026-11-20T12:00:00.000Z';

export function userMessage(text: string, messageId = 'm-1'): Message {
  return { messageId, role: 'ROLE_USER', parts: [{ text }] };
}

export function agentMessage(text: string, messageId = 'a-1'): Message {
  return { messageId, role: 'ROLE_AGENT', parts: [{ text }] };
}

/** An earlier task of the context: what was asked, and what it ended with. */
export function earlierTask(asked: string, state: Task['status']['state'], said?: string): Task {
  return {
    id: `task-${asked}`,
    contextId: 'c-1',
    history: [userMessage(asked)],
    status: { state, timestamp: STARTED, ...(said === undefined ? {} : { message: agentMessage(said) }) },
  };
}

export interface FakeTurnOptions {
  readonly text?: string;
  readonly capabilities?: Capabilities;
  /** Before the turn's message, oldest first. */
  readonly history?: readonly Message[];
  /** Newest first. */
  readonly earlier?: readonly Task[];
  /** What each call of `inbox` hands over. */
  readonly inbox?: readonly (readonly Message[])[];
  readonly signal?: AbortSignal;
  /** Results of steps that an earlier attempt finished; new ones are added. */
  readonly steps?: Map<string, unknown>;
}

export function fakeTurn(options: FakeTurnOptions = {}): Turn {
  const message = userMessage(options.text ?? '', 'm-now');
  const inbox = [...(options.inbox ?? [])];
  const steps = options.steps ?? new Map<string, unknown>();
  return {
    task: {
      id: 't-1',
      contextId: 'c-1',
      status: { state: 'TASK_STATE_WORKING', timestamp: STARTED },
      history: [...(options.history ?? []), message],
    },
    message,
    signal: options.signal ?? new AbortController().signal,
    capabilities: options.capabilities ?? {},
    earlier: async () => options.earlier ?? [],
    inbox: () => inbox.shift() ?? [],
    async step(key, effect) {
      if (!steps.has(key)) steps.set(key, await effect(`key-of-${key}`));
      return steps.get(key) as Awaited<ReturnType<typeof effect>>;
    },
  };
}

export interface Ran {
  readonly updates: readonly Update[];
  /** The one state that ended the turn. */
  readonly state: string;
  readonly text: string;
  /** Texts of TASK_STATE_WORKING. */
  readonly progress: readonly string[];
  /** Artifact chunks joined as a reader joins them. */
  readonly artifact: string;
  readonly chunks: number;
}

const said = (message: string | Message['parts'] | undefined): string =>
  typeof message === 'string' ? message : textOf(message ?? []);

/** Drives a turn as the runner does and checks that exactly one update ends it, the last one. */
export async function runTurn(agent: Agent, turn: Turn): Promise<Ran> {
  const updates: Update[] = [];
  for await (const update of agent.run(turn)) updates.push(update);
  const states = updates.flatMap((update) => ('state' in update ? [update] : []));
  const ends = states.filter(({ state }) => state !== 'TASK_STATE_WORKING');
  const [end] = ends;
  if (end === undefined || ends.length !== 1 || updates.at(-1) !== end) throw new Error('not exactly one end');
  const chunks = updates.flatMap((update) => ('artifact' in update ? [update] : []));
  let artifact = '';
  for (const { artifact: one, append } of chunks) artifact = (append ? artifact : '') + textOf(one.parts);
  return {
    updates,
    state: end.state,
    text: said(end.message),
    progress: states.filter(({ state }) => state === 'TASK_STATE_WORKING').map(({ message }) => said(message)),
    artifact,
    chunks: chunks.length,
  };
}

/** The error a Jira adapter rejects with, as an agent that imports nothing sees it. */
export function jiraError(reason: string): Error {
  return Object.assign(new Error(`refused: ${reason}`), { name: 'JiraError', reason });
}

/** A Jira in which everything is missing unless told. */
export function fakeJira(methods: Partial<Jira> = {}): Jira {
  const missing = async (): Promise<never> => {
    throw jiraError('not-found');
  };
  return { issue: missing, comments: async () => [], search: async () => [], ...methods };
}
