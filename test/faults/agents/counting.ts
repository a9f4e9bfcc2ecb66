import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { isText } from '../../../core/message.ts';
import type { Agent, Turn, Update } from '../../../core/ports/agent.ts';
import { chunkOf } from '../../e2e/agents/texts.ts';
import { counted } from '../counter.ts';

/*
 * Does what the message says, a command a line, and counts outside of the service what must not be doubled: a line in a
 * file for every run and for every effect of a step. The file outlives the process.
 */

type Play = (turn: Turn, words: readonly string[]) => AsyncGenerator<Update> | Promise<void>;

/** Longer than chunks wait to be merged, so that each is a commit of its own. */
const CHUNK_MS = 50;
const CHUNK_CHARS = 20;

function count(turn: Turn, what: string): void {
  appendFileSync(file('COUNTER_FILE'), `${turn.task.id} ${turn.message.messageId} ${what}\n`);
}

/** Rejects then, so that a stopped run does nothing more. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

function file(variable: string): string {
  const name = process.env[variable];
  if (name === undefined) throw new Error(`${variable} is not set`);
  return name;
}

const COMMANDS: Readonly<Record<string, Play>> = {
  async *say(_, words) {
    yield { state: 'TASK_STATE_WORKING', message: words.join(' ') };
  },
  /** Goes on when the client has seen something of the task. */
  async watched({ signal }) {
    while (!existsSync(file('WATCHED_FILE'))) await later(5, undefined, { signal });
  },
  async step(turn, [key = '']) {
    await turn.step(key, async (idempotencyKey) => {
      count(turn, `effect ${idempotencyKey}`);
      return 'done';
    });
  },
  async *chunks(turn, [many = '0']) {
    for (let index = 0; index < Number(many); index += 1) {
      yield { artifact: { artifactId: 'log', parts: [{ text: chunkOf(index, CHUNK_CHARS) }] }, append: index > 0 };
      await later(CHUNK_MS, undefined, { signal: turn.signal });
    }
  },
  /** The first run waits to be stopped, every other one goes on. */
  async 'hang-once'(turn) {
    if (counted(file('COUNTER_FILE'), turn.task.id).runs === 1) await aborted(turn.signal);
  },
  async hang({ signal }) {
    await aborted(signal);
  },
  async *ask(_, words) {
    yield { state: 'TASK_STATE_INPUT_REQUIRED', message: words.join(' ') };
  },
  /** The summary of a work item, as the person who asks may see it. */
  async *read(turn, [key = '']) {
    const { jira } = turn.capabilities;
    if (!jira) throw new Error('no Jira on this edge');
    yield { state: 'TASK_STATE_WORKING', message: (await jira.issue(key)).summary };
  },
  async *complete(_, words) {
    yield { state: 'TASK_STATE_COMPLETED', message: words.join(' ') };
  },
};

export function createCountingAgent(recovery: 'rerun' | 'review'): Agent {
  return {
    recovery,
    async *run(turn) {
      count(turn, 'run');
      const text = turn.message.parts.filter(isText).map((part) => part.text)[0] ?? '';
      for (const line of text.split('\n')) {
        const [verb = '', ...words] = line.trim().split(' ');
        const command = COMMANDS[verb];
        if (!command) throw new Error(`no such command: ${verb}`);
        const played = command(turn, words);
        if (played instanceof Promise) await played;
        else yield* played;
      }
    },
  };
}
