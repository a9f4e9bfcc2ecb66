/** Tasks of the reference agent, in memory: enough of the protocol to pass the readiness table, and no more. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type {
  Artifact,
  ArtifactUpdate,
  Message,
  Part,
  StatusUpdate,
  Task,
  TaskState,
} from '../../../simulator/client/a2a.ts';
import { isTerminal, messageText } from '../../../simulator/client/a2a.ts';
import type { Caller } from './caller.ts';
import type { Flaw } from './flaws.ts';

export type Update = { readonly statusUpdate: StatusUpdate } | { readonly artifactUpdate: ArtifactUpdate };

export interface Entry {
  readonly id: string;
  readonly contextId: string;
  readonly owner: string;
  readonly caller: Caller;
  readonly issueId: string | undefined;
  readonly started: 'chat' | 'item';
  readonly history: Message[];
  readonly artifacts: Map<string, Part[]>;
  readonly listeners: Set<(update: Update) => void>;
  state: TaskState;
  text: string;
  token: string | undefined;
  /** Raised by a cancel and by a new start: what an older run says is not listened to. */
  run: number;
}

const CHUNK_CHARS = 8_000;

export const ownerOf = (caller: Caller): string => `${caller.tenant} ${caller.principal}`;

export function snapshot(entry: Entry, flaws: ReadonlySet<Flaw>, withArtifacts = true): Task {
  const artifacts: Artifact[] = [...entry.artifacts].map(([artifactId, parts]) => ({ artifactId, parts }));
  return {
    id: entry.id,
    contextId: entry.contextId,
    status: status(entry),
    ...(flaws.has('kind-field') ? { kind: 'task' } : {}),
    ...(withArtifacts && artifacts.length > 0 ? { artifacts } : {}),
  };
}

function status(entry: Entry): Task['status'] {
  const { id: taskId, contextId, text } = entry;
  const message = { messageId: randomUUID(), role: 'ROLE_AGENT', parts: [{ text }], taskId, contextId };
  return { state: entry.state, timestamp: new Date().toISOString(), ...(text === '' ? {} : { message }) };
}

export function createEntry(caller: Caller, message: Message, token: string | undefined): Entry {
  const data = message.parts.map((part) => part.data).find((value) => typeof value === 'object' && value !== null);
  const issue = (data as { readonly issue?: { readonly id?: string } } | undefined)?.issue;
  const named = /[A-Z]+-\d+/.exec(data === undefined ? messageText(message) : '')?.[0];
  return {
    id: randomUUID(),
    contextId: message.contextId || randomUUID(),
    owner: ownerOf(caller),
    caller,
    issueId: issue?.id ?? named,
    started: data === undefined ? 'chat' : 'item',
    history: [message],
    artifacts: new Map(),
    listeners: new Set(),
    state: 'TASK_STATE_SUBMITTED',
    text: '',
    token,
    run: 0,
  };
}

function publish(entry: Entry, update: Update): void {
  for (const listener of [...entry.listeners]) listener(update);
}

export function changeState(entry: Entry, state: TaskState, text: string): void {
  if (isTerminal(entry.state)) return;
  entry.state = state;
  entry.text = text;
  const { id: taskId, contextId } = entry;
  publish(entry, { statusUpdate: { taskId, contextId, status: status(entry) } });
}

function append(entry: Entry, artifactId: string, text: string): void {
  const parts = entry.artifacts.get(artifactId);
  entry.artifacts.set(artifactId, [...(parts ?? []), { text }]);
  const { id: taskId, contextId } = entry;
  const artifact = { artifactId, parts: [{ text }] };
  publish(entry, { artifactUpdate: { taskId, contextId, artifact, ...(parts ? { append: true } : {}) } });
}

class AuthRequired extends Error {}

async function read(entry: Entry, path: string): Promise<unknown> {
  for (;;) {
    if (entry.token === undefined) throw new AuthRequired();
    const response = await fetch(`${entry.caller.apiBaseUrl}/rest/api/3${path}`, {
      headers: { authorization: `Bearer ${entry.token}`, connection: 'close' },
    });
    if (response.status === 200) return response.json();
    await response.body?.cancel();
    if (response.status === 401) throw new AuthRequired();
    if (response.status !== 429) return undefined;
    await delay(Number(response.headers.get('retry-after')) * 1000);
  }
}

function texts(node: unknown): string {
  if (typeof node !== 'object' || node === null) return '';
  if (Array.isArray(node)) return node.map(texts).join(' ');
  const { text, content } = node as { readonly text?: string; readonly content?: unknown };
  return text ?? texts(content);
}

/** One turn. Reads the work item and its comments as the caller, tells them in pieces. */
export async function work(entry: Entry, flaws: ReadonlySet<Flaw>): Promise<void> {
  entry.run += 1;
  const { run } = entry;
  const mine = (): boolean => entry.run === run && !isTerminal(entry.state);
  if (flaws.has('status-before-task')) await delay(20);
  changeState(entry, 'TASK_STATE_WORKING', 'Reading');
  try {
    if (entry.issueId === undefined) {
      changeState(entry, 'TASK_STATE_COMPLETED', `Heard ${entry.history.length} message(s).`);
      return;
    }
    const issue = (await read(entry, `/issue/${entry.issueId}?fields=summary,description`)) as
      | { readonly fields: { readonly summary: string; readonly description: unknown } }
      | undefined;
    const comments = (await read(entry, `/issue/${entry.issueId}/comment`)) as
      | { readonly comments: unknown[] }
      | undefined;
    if (!mine()) return;
    if (!issue) {
      changeState(entry, 'TASK_STATE_COMPLETED', 'There is no such work item, or you may not see it.');
      return;
    }
    const brief = `# ${issue.fields.summary}\n\n${texts(issue.fields.description)}\n\n${comments?.comments.length ?? 0} comments.`;
    for (
      let at = 0, size = flaws.has('long-lines') ? brief.length : Math.min(CHUNK_CHARS, Math.ceil(brief.length / 4));
      at < brief.length;
      at += size
    ) {
      append(entry, 'brief', brief.slice(at, at + size));
      await delay(1);
      if (!mine()) return;
    }
    changeState(entry, 'TASK_STATE_COMPLETED', `**${issue.fields.summary}**: read.`);
  } catch (error) {
    if (!mine()) return;
    const parks = error instanceof AuthRequired && !flaws.has('fails-without-token');
    if (parks) changeState(entry, 'TASK_STATE_AUTH_REQUIRED', 'Allow the app to read Jira as you.');
    else changeState(entry, 'TASK_STATE_FAILED', 'Something went wrong.');
  }
}
