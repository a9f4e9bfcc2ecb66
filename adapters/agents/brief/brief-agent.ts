import { textOf } from '../../../core/message.ts';
import type { Agent, Jira, Turn, Update } from '../../../core/ports/agent.ts';
import { ownAccounts } from './addressed.ts';
import { chatAnswer, commentDraft } from './answers.ts';
import { type Dossier, type Reader, readComments, readRelated, refusalOf } from './dossier.ts';
import { type Intent, intentsOf } from './intents.ts';
import { ASK_WHICH, NO_JIRA, NOTHING_NAMED, nothingRead, type Refusal, refusalText } from './replies.ts';
import { subtaskProgress, whatBlocksIt, whatItIs, whatToDoNext, whereItStands, whoTalkedLast } from './sections.ts';
import { plain } from './text.ts';
import { keysIn, MAX_TARGETS, type Request, requestOf, type Target, typed } from './work-items.ts';

/** Everything that grows while a turn runs. */
interface Progress {
  readonly jira: Jira;
  readonly signal: AbortSignal;
  /** ISO 8601: when the turn began, so that an attempt that is run again says the same. */
  readonly now: string;
  /** Is the brief written into an artifact? In a conversation only when somebody wants all of it. */
  readonly written: boolean;
  readonly reader: Reader;
  readonly read: Dossier[];
  readonly refused: Refusal[];
  chunks: number;
}

const working = (message: string): Update => ({ state: 'TASK_STATE_WORKING', message });

/** Sections of all work items, in the order in which they become ready, are chunks of one artifact. */
function chunk(progress: Progress, markdown: string, last = false): readonly Update[] {
  if (!progress.written) return [];
  progress.chunks += 1;
  return [
    {
      artifact: { artifactId: 'brief', name: 'Brief', parts: [{ text: markdown, mediaType: 'text/markdown' }] },
      append: progress.chunks > 1,
      lastChunk: last,
    },
  ];
}

const section = (title: string, text: string): string => `## ${title}\n\n${text}\n\n`;

/** Reads one work item and writes down what it finds as it goes. */
async function* study(progress: Progress, target: Target): AsyncGenerator<Update, void> {
  const { jira, now, signal } = progress;
  signal.throwIfAborted();
  yield working(`Reading ${target.shown}`);
  let issue: Dossier['issue'];
  try {
    issue = await jira.issue(target.id);
  } catch (error) {
    const reason = refusalOf(error);
    if (reason === undefined) throw error;
    progress.refused.push({ shown: target.shown, reason });
    return;
  }
  // Asked for by its key and once more as the item that the comment stands on.
  if (progress.read.some((dossier) => dossier.issue.id === issue.id)) return;
  yield* chunk(progress, `# ${issue.key} ${plain(issue.summary)}\n\n${whatItIs(issue)}\n\n`);
  yield* chunk(progress, section('Where it stands', whereItStands(issue, now)));
  signal.throwIfAborted();
  yield working(`Looking at what ${issue.key} depends on`);
  const related = await readRelated(jira, issue);
  const soFar: Dossier = { issue, comments: [], talk: [], answering: false, ...related };
  yield* chunk(progress, section('What blocks it', whatBlocksIt(soFar)));
  yield* chunk(progress, section('Subtasks', subtaskProgress(soFar)));
  signal.throwIfAborted();
  yield working(`Reading the comments of ${issue.key}`);
  const talk = await readComments(jira, issue, progress.reader);
  const dossier: Dossier = { ...soFar, ...talk, unread: [...related.unread, ...talk.unread] };
  yield* chunk(progress, section('Who talked last', whoTalkedLast(dossier)));
  yield* chunk(progress, section('What to do next', whatToDoNext(dossier, now)));
  progress.read.push(dossier);
}

/** Messages that came meanwhile: more work items, or more to say about the same. */
function added(
  turn: Turn,
  known: (key: string) => boolean,
): { readonly targets: readonly Target[]; readonly intents: readonly Intent[] } {
  const text = turn
    .inbox()
    .map(({ parts }) => textOf(parts))
    .join('\n');
  return {
    targets: keysIn(text)
      .filter((key) => !known(key))
      .map(typed),
    intents: intentsOf(text),
  };
}

function finalText(progress: Progress, request: Request, intents: ReadonlySet<Intent>, omitted: number): string {
  const answer = request.style === 'answer' && !progress.written ? chatAnswer : commentDraft;
  return [
    ...progress.read.map((dossier) => answer([...intents], dossier, progress.now)),
    progress.refused.length === 0 ? '' : refusalText(progress.refused),
    omitted === 0 ? '' : `I read ${MAX_TARGETS} work items at a time and left out ${omitted}.`,
  ]
    .filter(Boolean)
    .join('\n\n');
}

async function* run(turn: Turn): AsyncGenerator<Update, void> {
  const { jira, invocation } = turn.capabilities;
  if (jira === undefined) {
    yield NO_JIRA;
    return;
  }
  const request = await requestOf(turn);
  const queue = [...request.targets];
  const intents = new Set(request.intents);
  const known = new Set<string>();
  const progress: Progress = {
    jira,
    signal: turn.signal,
    now: turn.task.status.timestamp,
    written: request.style === 'brief' || intents.size === 0 || intents.has('summary'),
    reader: {
      accounts: ownAccounts(turn),
      ...(invocation?.comment === undefined ? {} : { answering: invocation.comment.id }),
    },
    read: [],
    refused: [],
    chunks: 0,
  };
  const take = () => {
    const more = added(turn, (key) => known.has(key) || progress.read.some(({ issue }) => issue.key === key));
    queue.push(...more.targets);
    for (const intent of more.intents) intents.add(intent);
  };
  if (queue.length === 0) take();
  if (queue.length === 0) {
    yield invocation?.prompt === undefined ? ASK_WHICH : NOTHING_NAMED;
    return;
  }
  let omitted = 0;
  for (let target = queue.shift(); target !== undefined; target = queue.shift()) {
    if (known.has(target.id)) continue;
    known.add(target.id);
    if (known.size > MAX_TARGETS) omitted += 1;
    else yield* study(progress, target);
    if (queue.length === 0) take();
  }
  if (progress.read.length === 0) {
    yield nothingRead(progress.refused);
    return;
  }
  yield* chunk(progress, `As of ${progress.now.slice(0, 10)}, with your permissions.\n`, true);
  yield { state: 'TASK_STATE_COMPLETED', message: finalText(progress, request, intents, omitted) };
}

/**
 * The default agent: reads work items as the invoking user and answers with a brief. No model, no side effect, the
 * same answer for the same Jira.
 */
export const briefAgent: Agent = {
  recovery: 'rerun',
  outputModes: ['text/markdown', 'text/plain'],
  skills: [
    {
      id: 'brief',
      name: 'Brief a work item',
      description:
        'Says what a Jira work item is, where it stands, what blocks it, who talked last and what to do next.',
      tags: ['jira', 'summary'],
      examples: ['Give me a brief of SHOP-1', 'What blocks SHOP-1?', 'Who is on it, and when is it due?'],
    },
  ],
  run,
};
