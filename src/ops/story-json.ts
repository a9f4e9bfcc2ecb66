import type { StoryEntry, TaskStory } from '../../core/operations/task-story.ts';
import type { Artifact } from '../../core/task.ts';
import { cleaned, describe, messageJson } from './content.ts';
import { auditJson, taskJson, turnJson, withIsoTimes } from './json-shapes.ts';

export interface ShownStory extends TaskStory {
  readonly artifacts: readonly Artifact[];
}

function entryJson(entry: StoryEntry, texts: boolean): object {
  switch (entry.kind) {
    case 'message': {
      const { turn, message, ...rest } = entry;
      return { ...withIsoTimes(rest), ...(turn ? { turn: turn.ordinal } : {}), message: messageJson(message, texts) };
    }
    case 'status': {
      const { message, metadata, ...rest } = entry;
      return {
        ...withIsoTimes(rest),
        ...(message ? { message: messageJson(message, texts) } : {}),
        ...(texts && metadata ? { metadata: cleaned(metadata) } : {}),
      };
    }
    case 'attempt': {
      const { ordinal, attempt, worker } = entry.attempt;
      return { ...withIsoTimes({ kind: entry.kind, at: entry.at }), turn: ordinal, attempt, worker };
    }
    case 'turn-ended': {
      const { ordinal, outcome, attempts, takenBy, error } = entry.turn;
      const why = { takenBy, ...(error === undefined ? {} : { error: cleaned(error) }) };
      return { ...withIsoTimes({ kind: entry.kind, at: entry.at }), turn: ordinal, outcome, attempts, ...why };
    }
    case 'step-started':
    case 'step-finished': {
      const { ordinal, key, attempt, resultChars } = entry.step;
      const result = entry.kind === 'step-finished' ? { resultChars } : {};
      return { ...withIsoTimes({ kind: entry.kind, at: entry.at }), turn: ordinal, key, attempt, ...result };
    }
    case 'act':
      return { kind: entry.kind, ...auditJson(entry.act) };
    case 'artifact':
      return withIsoTimes(entry);
  }
}

export function storyJson({ file, entries, artifacts }: ShownStory, texts: boolean): object {
  const { record, exclusive, tenant, tenantPausedAt, turns } = file;
  return {
    task: taskJson(record, texts),
    exclusive,
    tenant,
    ...withIsoTimes({ tenantPausedAt }),
    turns: turns.map(turnJson),
    artifacts: artifacts.map(({ artifactId, parts }) => ({
      artifactId,
      parts: texts ? cleaned(parts) : describe(parts),
    })),
    story: entries.map((entry) => entryJson(entry, texts)),
  };
}
