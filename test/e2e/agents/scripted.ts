import { setTimeout as sleep } from 'node:timers/promises';
import { isText } from '../../../core/message.ts';
import type { Agent, Turn, Update } from '../../../core/ports/agent.ts';
import { chunkOf, type TextKind, textOf } from './texts.ts';

/*
 * An agent that does what the message says, a command a line. What it does outside of the service goes to the server at
 * OUTSIDE_URL, which can hold its answer back: so a test knows when the agent has come to a place, and when it goes on.
 */

/** What a command does: it yields, or it only acts. */
type Play = (turn: Turn, words: readonly string[]) => AsyncGenerator<Update> | Promise<void>;

/** A place that a test forgot to open fails the task and not the patience of everybody. */
const CALL_LIMIT_MS = 25_000;

/** Asks the outside for `place` and waits for its answer. */
async function call(turn: Turn, place: string, options: { readonly key?: string; readonly deaf?: boolean } = {}) {
  const limit = AbortSignal.timeout(CALL_LIMIT_MS);
  const response = await fetch(`${process.env.OUTSIDE_URL}/${place}`, {
    method: 'POST',
    headers: {
      'x-task': turn.task.id,
      'x-worker': String(process.pid),
      ...(options.key === undefined ? {} : { 'idempotency-key': options.key }),
    },
    signal: options.deaf ? limit : AbortSignal.any([turn.signal, limit]),
  });
  return response.text();
}

const artifact = (artifactId: string, text: string): Extract<Update, { artifact: unknown }> => ({
  artifact: { artifactId, name: artifactId, parts: [{ text }] },
});

const COMMANDS: Readonly<Record<string, Play>> = {
  async call(turn, [place = '']) {
    await call(turn, place);
  },
  /** Goes on when its signal is aborted, as an agent without support for canceling does. */
  async deaf(turn, [place = '']) {
    await call(turn, place, { deaf: true });
  },
  async *step(turn, [key = '', place = '']) {
    const result = await turn.step(key, (idempotencyKey) => call(turn, place, { key: idempotencyKey }));
    yield { state: 'TASK_STATE_WORKING', message: `${key}: ${result}` };
  },
  async pause(turn, [ms = '0']) {
    await sleep(Number(ms), undefined, { signal: turn.signal });
  },
  async *say(_, words) {
    yield { state: 'TASK_STATE_WORKING', message: words.join(' ') };
  },
  /** Says which process it runs in. */
  async *sign() {
    yield { state: 'TASK_STATE_WORKING', message: `signed by ${process.pid}` };
  },
  async *artifact(_, [id = '', kind = 'plain', length = '0']) {
    yield artifact(id, textOf(kind as TextKind, Number(length)));
  },
  async *chunks(_, [id = '', count = '0', size = '0']) {
    for (let index = 0; index < Number(count); index += 1) {
      yield { ...artifact(id, chunkOf(index, Number(size))), append: index > 0 };
    }
  },
  /** Chunks that are not merged: each waits until the one before is committed. */
  async *slowly(turn, [id = '', count = '0', size = '0', ms = '0']) {
    for (let index = 0; index < Number(count); index += 1) {
      yield { ...artifact(id, chunkOf(index, Number(size))), append: index > 0 };
      await sleep(Number(ms), undefined, { signal: turn.signal });
    }
  },
  async *write(_, [id = '', ...words]) {
    yield artifact(id, JSON.parse(words.join(' ')) as string);
  },
  /** An artifact and a status of very many, very small parts. */
  async *crumbs(_, [count = '0']) {
    const parts = Array.from({ length: Number(count) }, () => ({ url: 'x' }));
    yield { artifact: { artifactId: 'crumbs', parts } };
    yield { state: 'TASK_STATE_COMPLETED', message: parts };
  },
  async *ask(_, words) {
    yield { state: 'TASK_STATE_INPUT_REQUIRED', message: words.join(' ') };
  },
  async *complete(_, words) {
    yield { state: 'TASK_STATE_COMPLETED', ...(words.length > 0 ? { message: words.join(' ') } : {}) };
  },
  async *conclude(_, [kind = 'plain', length = '0']) {
    yield { state: 'TASK_STATE_COMPLETED', message: textOf(kind as TextKind, Number(length)) };
  },
  async *reject(_, words) {
    yield { state: 'TASK_STATE_REJECTED', message: words.join(' ') };
  },
  async *reply(_, words) {
    yield { reply: words.join(' ') };
  },
  /** The summary of a work item, read as the invoking user. */
  async *read(turn, [key = '']) {
    const { jira } = turn.capabilities;
    if (!jira) throw new Error('no Jira on this edge');
    yield { state: 'TASK_STATE_WORKING', message: (await jira.issue(key)).summary };
  },
  /** What was said before in this context. */
  async *earlier(turn) {
    const tasks = await turn.earlier();
    const texts = tasks.map(({ status }) => (status.message?.parts ?? []).filter(isText).map(({ text }) => text));
    yield { state: 'TASK_STATE_COMPLETED', message: `before: ${texts.flat().join(', ')}` };
  },
  async throw(_, words) {
    throw new Error(words.join(' '));
  },
  async hang() {
    await new Promise(() => {});
  },
};

/** A mention carries its script in the comment, everything else in the text. */
function scriptOf({ message, capabilities }: Turn): string {
  const comment = capabilities.invocation?.comment?.body;
  const text = comment ?? message.parts.filter(isText).map((part) => part.text)[0] ?? '';
  return text.replace(/^\[@[^\]]*\]\(~[^)]*\)\s*/, '');
}

export function createScriptedAgent(recovery: 'rerun' | 'review'): Agent {
  return {
    recovery,
    skills: [{ id: 'script', name: 'Script', description: 'Does what the message says.', tags: ['test'] }],
    async *run(turn) {
      for (const line of scriptOf(turn).split('\n')) {
        const [verb = '', ...words] = line.trim().split(' ');
        if (verb === '#') continue;
        const command = COMMANDS[verb];
        if (!command) throw new Error('no such command');
        const played = command(turn, words);
        if (played instanceof Promise) await played;
        else yield* played;
      }
    },
  };
}
