import { type Message, textOf } from '../../../core/message.ts';
import type { Turn } from '../../../core/ports/agent.ts';
import { headlineKeys } from './answers.ts';
import { type Intent, intentsOf } from './intents.ts';

/** A work item to read. `shown` is how a refusal may call it: only what the user wrote, never what Jira told us. */
export interface Target {
  readonly id: string;
  readonly shown: string;
}

/** What a turn is about. */
export interface Request {
  readonly targets: readonly Target[];
  readonly intents: readonly Intent[];
  /** `brief`: the whole of it, for a work item or a rule. `answer`: in a conversation. */
  readonly style: 'brief' | 'answer';
}

export const MAX_TARGETS = 5;

// A key inside a longer word or path is none.
const KEY = /(?<![A-Za-z0-9_-])[A-Z][A-Z0-9_]{1,40}-\d{1,19}(?![A-Za-z0-9_-])/g;
const KEY_ANY_CASE = new RegExp(KEY.source, 'gi');

/** Work item keys in a text, in order, each once. */
export function keysIn(text: string, anyCase = false): readonly string[] {
  const found = text.slice(0, 50_000).match(anyCase ? KEY_ANY_CASE : KEY) ?? [];
  return [...new Set(found.map((key) => key.toUpperCase()))];
}

export const typed = (key: string): Target => ({ id: key, shown: key });

/** The work items a message is about: a user names them, an answer of ours has them in its headlines. */
function subjectOf(message: Message): readonly string[] {
  const text = textOf(message.parts);
  return message.role === 'ROLE_USER' ? keysIn(text) : headlineKeys(text);
}

/** That of the newest message that has one. Messages are oldest first, as in a history. */
function latestSubject(messages: readonly Message[]): readonly string[] {
  return messages.map(subjectOf).findLast((keys) => keys.length > 0) ?? [];
}

async function subjectBefore(turn: Turn, history: readonly Message[]): Promise<readonly string[]> {
  const here = latestSubject(history);
  if (here.length > 0) return here;
  for (const task of await turn.earlier()) {
    const said = task.status.message === undefined ? [] : [task.status.message];
    const keys = latestSubject([...(task.history ?? []), ...said]);
    if (keys.length > 0) return keys;
  }
  return [];
}

async function fromConversation(turn: Turn): Promise<Request> {
  const text = textOf(turn.message.parts);
  const history = (turn.task.history ?? []).filter(({ messageId }) => messageId !== turn.message.messageId);
  // Somebody who answers our question with a key alone may well write it small, and still wants to know what was asked.
  const answering = history.some(({ role }) => role === 'ROLE_AGENT');
  const asked = [...history.filter(({ role }) => role === 'ROLE_USER').map(({ parts }) => textOf(parts)), text];
  const intents = asked.map(intentsOf).findLast((some) => some.length > 0) ?? [];
  const named = keysIn(text, answering);
  const keys = named.length > 0 ? named : await subjectBefore(turn, history);
  return { targets: keys.map(typed), intents, style: 'answer' };
}

/** Finds out what a turn is about. No targets: nothing said which work item is meant. */
export async function requestOf(turn: Turn): Promise<Request> {
  const { invocation } = turn.capabilities;
  if (invocation?.issue !== undefined) {
    const { issue, comment, type } = invocation;
    const question = comment?.body ?? (type === 'CHAT' ? textOf(turn.message.parts) : '');
    const others = keysIn(question).filter((key) => key !== issue.key);
    return {
      targets: [{ id: issue.id, shown: 'this work item' }, ...others.map(typed)],
      intents: intentsOf(question),
      style: type === 'CHAT' ? 'answer' : 'brief',
    };
  }
  if (invocation?.prompt !== undefined) {
    return { targets: keysIn(invocation.prompt).map(typed), intents: intentsOf(invocation.prompt), style: 'brief' };
  }
  return fromConversation(turn);
}
