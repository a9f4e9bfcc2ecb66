import { setTimeout as later } from 'node:timers/promises';
import { type Message, textOf } from '../../core/message.ts';
import type { Agent, Turn, Update } from '../../core/ports/agent.ts';
import { largeChunks } from './large-text.ts';

/*
 * The agent that clients of other languages talk to. The first word of a task's first message says what it plays, so
 * that a client needs nothing but texts. Loaded into the shipped service with AGENT=module:.
 */

type Script = (turn: Turn, words: string) => AsyncGenerator<Update>;

const WORKING = 'TASK_STATE_WORKING' as const;
const COMPLETED = 'TASK_STATE_COMPLETED' as const;
/** Longer than the read timeout that HTTP clients of some languages have by default, 5 s. */
const QUIET_MS = 8_000;
const INBOX_MS = 10;

function textChunk(artifactId: string, text: string, more: { append?: boolean; lastChunk?: boolean } = {}): Update {
  return { artifact: { artifactId, name: artifactId, parts: [{ text }] }, ...more };
}

async function* hello(_: Turn, name: string): AsyncGenerator<Update> {
  yield { state: WORKING, message: 'Looking up the name' };
  yield textChunk('greeting', 'Hello, ');
  yield textChunk('greeting', name, { append: true, lastChunk: true });
  yield { state: COMPLETED, message: 'Said hello' };
}

async function* large(): AsyncGenerator<Update> {
  yield { state: WORKING };
  const chunks = largeChunks();
  for (const [index, text] of chunks.entries()) {
    yield textChunk('large', text, { append: index > 0, lastChunk: index === chunks.length - 1 });
    // Lets the chunks before it go out, so that they do not all become one commit.
    if (index % 10 === 9) await later(2);
  }
  yield { state: COMPLETED, message: 'Wrote it all' };
}

/** Half of the artifact, then nothing until another message arrives, then the rest. */
async function* hold(turn: Turn): AsyncGenerator<Update> {
  yield { state: WORKING, message: 'Waiting for a message' };
  yield textChunk('halves', 'before ');
  while (turn.inbox().length === 0) {
    if (turn.signal.aborted) return;
    await later(INBOX_MS);
  }
  yield textChunk('halves', 'after', { append: true, lastChunk: true });
  yield { state: COMPLETED, message: 'Released' };
}

async function* ask(turn: Turn): AsyncGenerator<Update> {
  if (isFirst(turn)) yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'Which colour?' };
  else yield { state: COMPLETED, message: `You said ${textOf(turn.message.parts)}` };
}

async function* wait({ signal }: Turn): AsyncGenerator<Update> {
  yield { state: WORKING, message: 'Waiting to be canceled' };
  while (!signal.aborted) await later(INBOX_MS);
}

async function* quiet({ signal }: Turn): AsyncGenerator<Update> {
  yield { state: WORKING, message: 'Thinking' };
  await later(QUIET_MS, undefined, { signal });
  yield { state: COMPLETED, message: 'Quiet is over' };
}

const SCRIPTS: Readonly<Record<string, Script>> = { hello, large, hold, ask, wait, quiet };

function firstMessage({ task, message }: Turn): Message {
  return task.history?.[0] ?? message;
}

function isFirst(turn: Turn): boolean {
  return firstMessage(turn).messageId === turn.message.messageId;
}

export const agent: Agent = {
  recovery: 'rerun',
  outputModes: ['text/plain'],
  skills: [{ id: 'interop', name: 'Interop', description: 'Plays what its first word says.', tags: ['test'] }],
  run: (turn) => {
    const [word = '', ...words] = textOf(firstMessage(turn).parts.slice(0, 1)).split(' ');
    const script = Object.hasOwn(SCRIPTS, word) ? SCRIPTS[word] : undefined;
    if (!script) throw new Error(`no script is called ${word}`);
    return script(turn, words.join(' '));
  },
};
