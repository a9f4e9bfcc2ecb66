import type { StoryEntry } from '../../core/operations/task-story.ts';
import type { TaskFile, TurnEntry } from '../../core/ports/operator-store.ts';
import { withoutCredentials } from '../without-credentials.ts';
import { describe, spellOut } from './content.ts';
import { printable } from './printable.ts';
import type { ShownStory } from './story-json.ts';
import { counted, exactTime, fields, table, time } from './table.ts';
import { shortState } from './task-state.ts';
import { doing } from './turn-text.ts';

function head({ record, tenant, tenantPausedAt, messages }: TaskFile): string {
  const { owner, status, metadata, parked } = record;
  const paused = tenantPausedAt === undefined ? '' : `, paused since ${time(tenantPausedAt)}`;
  return fields([
    ['task', record.id],
    ['state', `${shortState(status.state)} since ${time(Date.parse(status.timestamp))}`],
    ['says', status.message && describe(status.message.parts)],
    ['tenant', `${owner.tenant} (${tenant}${paused})`],
    ['principal', owner.principal],
    ['agent', owner.agent],
    ['delegate', record.delegate],
    ['context', record.contextId],
    ['retry of', typeof metadata?.retryOf === 'string' ? metadata.retryOf : undefined],
    ['created', time(record.createdAt)],
    ['deadline', record.deadlineAt === undefined ? undefined : time(record.deadlineAt)],
    ['waits', parked && `turn ${parked.ordinal} for a token of its user`],
    ['holds', `${counted(messages.length, 'message')}, ${counted(record.sequence, 'event')}`],
  ]);
}

function turnRow(turn: TurnEntry): readonly string[] {
  const { ordinal, outcome, attempts, worker = '-', trace = '-', retriedAs } = turn;
  const ended = retriedAs === undefined ? time(turn.endedAt) : `${time(turn.endedAt)}, retried as ${retriedAs}`;
  return [String(ordinal), outcome, String(attempts), worker, outcome === 'open' ? doing(turn) : ended, trace];
}

/** What it is, and more about it. */
function line(entry: StoryEntry): readonly [what: string, more: string] {
  switch (entry.kind) {
    case 'message': {
      const who = entry.message.role === 'ROLE_USER' ? 'user' : 'agent';
      const turn = entry.turn ? `message ${entry.turn.ordinal}` : 'message';
      return [turn, `${who}: ${describe(entry.message.parts)}`];
    }
    case 'attempt':
      return [`turn ${entry.attempt.ordinal}`, `attempt ${entry.attempt.attempt} begins at ${entry.attempt.worker}`];
    case 'status': {
      const says = entry.message ? `, says ${describe(entry.message.parts)}` : '';
      return [`event ${entry.sequence}`, `${shortState(entry.state)}${says}`];
    }
    case 'artifact': {
      const { sequence, lastSequence, characters, otherParts } = entry;
      const range = sequence === lastSequence ? String(sequence) : `${sequence}-${lastSequence}`;
      const others = otherParts > 0 ? `, ${otherParts} parts that are no text` : '';
      return [`event ${range}`, `artifact ${entry.artifactId}: ${characters} characters${others}`];
    }
    case 'step-started':
      return [`turn ${entry.step.ordinal}`, `step ${entry.step.key} begins, attempt ${entry.step.attempt}`];
    case 'step-finished':
      return [
        `turn ${entry.step.ordinal}`,
        `step ${entry.step.key} is done, result of ${entry.step.resultChars ?? 0} characters`,
      ];
    case 'turn-ended':
      return [`turn ${entry.turn.ordinal}`, ending(entry.turn)];
    case 'act': {
      const { act, actor, reason, detail } = entry.act;
      const result = detail === undefined ? '' : ` ${JSON.stringify(detail)}`;
      return [act, `by ${actor}${reason === undefined ? '' : `: ${reason}`}${result}`];
    }
  }
}

function ending({ outcome, takenBy, error }: TurnEntry): string {
  const taken = takenBy === undefined ? '' : `, its message was taken by turn ${takenBy}`;
  return `${outcome}${taken}${error === undefined ? '' : `: ${withoutCredentials(error)}`}`;
}

function textOf(entry: StoryEntry): string {
  return 'message' in entry && entry.message ? spellOut(entry.message.parts) : '';
}

export function storyText({ file, entries, artifacts }: ShownStory, texts: boolean): string {
  const lines = entries.map((entry) => ({ at: exactTime(entry.at), ...words(line(entry)), entry }));
  const width = Math.max(...lines.map(({ what }) => what.length));
  const story = lines.map(
    ({ at, what, more, entry }) => `${at}  ${what.padEnd(width)}  ${more}\n${texts ? textOf(entry) : ''}`,
  );
  const results = artifacts.map(
    ({ artifactId, parts }) => `artifact ${printable(artifactId)}: ${describe(parts)}\n${texts ? spellOut(parts) : ''}`,
  );
  const turns = table(
    ['TURN', 'OUTCOME', 'ATTEMPTS', 'LAST AT', 'ENDED', 'TRACE'],
    file.turns.map(turnRow),
    'no turns',
  );
  return [head(file), turns, story.join(''), ...(results.length > 0 ? [results.join('')] : [])].join('\n');
}

function words([what, more]: readonly [string, string]) {
  return { what: printable(what), more: printable(more) };
}
