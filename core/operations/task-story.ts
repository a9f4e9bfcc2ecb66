import type { StoredEvent } from '../event.ts';
import { LIMITS } from '../limits.ts';
import { isText, type JsonObject, type Message } from '../message.ts';
import type {
  AttemptEntry,
  AuditEntry,
  OperatorStore,
  StepEntry,
  TaskFile,
  TurnEntry,
} from '../ports/operator-store.ts';
import type { TaskStore } from '../ports/task-store.ts';
import type { TaskState } from '../task.ts';

/*
 * What happened to a task, in the order in which it happened, as far as it is kept: of a step's
 * attempts only the last one that began it is. Artifact events that follow each other are told as one.
 */

export type StoryEntry =
  | { readonly kind: 'message'; readonly at: number; readonly message: Message; readonly turn?: TurnEntry }
  | { readonly kind: 'attempt'; readonly at: number; readonly attempt: AttemptEntry }
  | { readonly kind: 'step-started' | 'step-finished'; readonly at: number; readonly step: StepEntry }
  | {
      readonly kind: 'status';
      readonly at: number;
      readonly sequence: number;
      readonly state: TaskState;
      readonly message?: Message;
      readonly metadata?: JsonObject;
    }
  | ({ readonly kind: 'artifact' } & ArtifactRun)
  | { readonly kind: 'turn-ended'; readonly at: number; readonly turn: TurnEntry }
  | { readonly kind: 'act'; readonly at: number; readonly act: AuditEntry };

interface ArtifactRun {
  readonly artifactId: string;
  readonly at: number;
  readonly until: number;
  /** First and last event. */
  readonly sequence: number;
  readonly lastSequence: number;
  /** UTF-16 units of its text parts. */
  readonly characters: number;
  /** Parts that are no text. */
  readonly otherParts: number;
}

export interface TaskStory {
  readonly file: TaskFile;
  readonly entries: readonly StoryEntry[];
}

/** Of things in the same millisecond: a message comes before its turn, an event before the end that it tells of. */
const RANK: Readonly<Record<StoryEntry['kind'], number>> = {
  message: 0,
  attempt: 1,
  'step-started': 2,
  status: 3,
  artifact: 3,
  'step-finished': 4,
  'turn-ended': 5,
  act: 6,
};

interface Placed {
  readonly entry: StoryEntry;
  /** By which it is sorted: events keep their order also when the clock went back. */
  readonly place: number;
}

export async function readStory(
  { operator, store }: { readonly operator: OperatorStore; readonly store: TaskStore },
  taskId: string,
): Promise<TaskStory | undefined> {
  const file = await operator.taskFile(taskId);
  if (!file) return undefined;
  const events = await readEvents(store, file);
  const shown = new Set(events.flatMap(({ entry }) => ('message' in entry ? [entry.message?.messageId] : [])));
  const others = [...messages(file, shown), ...turns(file), ...steps(file), ...acts(file)];
  const placed: readonly Placed[] = [...events, ...others.map((entry) => ({ entry, place: entry.at }))];
  const entries = [...placed].sort((a, b) => a.place - b.place || RANK[a.entry.kind] - RANK[b.entry.kind]);
  return { file, entries: entries.map(({ entry }) => entry) };
}

async function readEvents(store: TaskStore, { record }: TaskFile): Promise<readonly Placed[]> {
  const placed: Placed[] = [];
  let after = 0;
  let place = 0;
  while (after < record.sequence) {
    const page = await store.events(record.owner, record.id, after, LIMITS.eventPage);
    if (page.length === 0) break;
    for (const event of page) {
      after = event.sequence;
      place = Math.max(place, event.at);
      const last = placed.at(-1);
      const entry = tell(event);
      const joined = entry && last && join(last.entry, entry);
      if (joined) placed[placed.length - 1] = { entry: joined, place: last.place };
      else if (entry) placed.push({ entry, place });
    }
  }
  return placed;
}

function tell({ sequence, at, body }: StoredEvent): StoryEntry | undefined {
  if ('artifactUpdate' in body) {
    const { artifactId, parts } = body.artifactUpdate.artifact;
    const texts = parts.filter(isText);
    const characters = texts.reduce((sum, { text }) => sum + text.length, 0);
    const run = { artifactId, at, until: at, sequence, lastSequence: sequence, characters };
    return { kind: 'artifact', ...run, otherParts: parts.length - texts.length };
  }
  if ('message' in body) return undefined;
  const { status, metadata } = 'task' in body ? body.task : body.statusUpdate;
  return {
    ...{ kind: 'status', at, sequence, state: status.state },
    ...(status.message ? { message: status.message } : {}),
    ...(metadata ? { metadata } : {}),
  };
}

function join(last: StoryEntry, next: StoryEntry): StoryEntry | undefined {
  if (last.kind !== 'artifact' || next.kind !== 'artifact' || last.artifactId !== next.artifactId) return undefined;
  return {
    ...last,
    until: next.at,
    lastSequence: next.lastSequence,
    characters: last.characters + next.characters,
    otherParts: last.otherParts + next.otherParts,
  };
}

/** What the agent says is in the history when something followed it: an event has told it before. */
function messages({ record, messages: history, turns }: TaskFile, shown: ReadonlySet<unknown>): readonly StoryEntry[] {
  let at = record.createdAt;
  return history.flatMap((message, index) => {
    const turn = turns.find(({ ordinal }) => ordinal === index + 1);
    at = turn?.openedAt ?? at;
    return turn || !shown.has(message.messageId) ? [{ kind: 'message', at, message, ...(turn ? { turn } : {}) }] : [];
  });
}

function turns(file: TaskFile): readonly StoryEntry[] {
  return [
    ...file.attempts.map((attempt) => ({ kind: 'attempt', at: attempt.claimedAt, attempt }) as const),
    ...file.turns.flatMap((turn): StoryEntry[] =>
      turn.endedAt === undefined ? [] : [{ kind: 'turn-ended', at: turn.endedAt, turn }],
    ),
  ];
}

function steps(file: TaskFile): readonly StoryEntry[] {
  return file.steps.flatMap((step): StoryEntry[] => [
    { kind: 'step-started', at: step.startedAt, step },
    ...(step.finishedAt === undefined ? [] : [{ kind: 'step-finished', at: step.finishedAt, step } as const]),
  ]);
}

function acts(file: TaskFile): readonly StoryEntry[] {
  return file.acts.map((act) => ({ kind: 'act', at: act.at, act }));
}
