import { escapedLength } from '../escaped-text.ts';
import type { EventBody } from '../event.ts';
import { type ArtifactHead, artifactEvents, fittingHead, type Slice, sliceParts } from '../frame-size.ts';
import type { ArtifactView, ArtifactWrite, Change, TaskView } from '../ports/task-store.ts';
import { type Artifact, isTerminal } from '../task.ts';
import { roomForEvents } from './status.ts';

/** The turn and attempt that write. */
export interface Writer {
  readonly ordinal: number;
  readonly attempt: number;
}

export interface ArtifactCommand {
  readonly artifact: Artifact;
  readonly append: boolean;
  readonly lastChunk: boolean;
  /** This attempt has not written to this artifact yet. */
  readonly first: boolean;
  /** The first part continues the text that this attempt wrote last. */
  readonly joinsPrevious: boolean;
}

/**
 * One artifact update, as rows and as events that fit a frame. A rerun's first chunk replaces what the lost attempt
 * wrote, whatever `append` says; a first chunk never goes out as an append, because clients ignore an append to an
 * artifact that they have not seen. Throws when the task is full.
 */
export function decideArtifact(view: TaskView, writer: Writer, command: ArtifactCommand): Change {
  roomForEvents(view);
  const { parts, ...head } = command.artifact;
  const existing = view.artifacts.get(head.artifactId);
  const slices = sliceParts(parts, escapedLength(head), command.joinsPrevious);
  const replacesLost = command.append && command.first && existing?.lost === true;
  const mode = !command.append ? 'replace' : replacesLost ? 'replace-lost' : 'append';
  const kept = replacesLost && existing ? existing.kept : [];
  const shownHead = kept.length > 0 ? mergedHead(head, existing) : head;
  const shown: readonly Slice[] =
    kept.length > 0 ? [...sliceParts(kept, escapedLength(shownHead), false), ...slices] : slices;
  const write: ArtifactWrite = {
    mode,
    ...head,
    ordinal: writer.ordinal,
    attempt: writer.attempt,
    parts: slices.flatMap((slice) => slice.stored),
  };
  const { id: taskId, contextId } = view.record;
  return {
    artifacts: [write],
    events: artifactEvents({
      taskId,
      contextId,
      head: shownHead,
      slices: shown,
      append: mode === 'append' && existing !== undefined,
      lastChunk: command.lastChunk,
    }),
  };
}

/** What the store makes of the labels when parts of other turns stay: named ones change, metadata is merged key by key. */
function mergedHead(head: ArtifactHead, existing: ArtifactView | undefined): ArtifactHead {
  const { labels } = existing ?? {};
  const metadata = labels?.metadata && head.metadata ? { metadata: { ...labels.metadata, ...head.metadata } } : {};
  return fittingHead({ ...labels, ...head, ...metadata });
}

function dropped(view: TaskView, artifactId: string, artifact: ArtifactView): readonly EventBody[] {
  const metadata = { superseded: true };
  const parts = artifact.kept.length > 0 ? artifact.kept : [{ text: '' }];
  const head = artifact.kept.length > 0 ? fittingHead({ artifactId, ...artifact.labels }) : { artifactId, metadata };
  return artifactEvents({
    taskId: view.record.id,
    contextId: view.record.contextId,
    head,
    slices: sliceParts(parts, escapedLength(head), false),
    append: false,
    lastChunk: true,
  });
}

/** What only lost attempts of this turn wrote leaves the snapshot, and a last event says so. */
export function dropLost(view: TaskView, writer: Writer): Pick<Change, 'artifacts' | 'events'> {
  if (view.lost.size === 0 || isTerminal(view.record.status.state)) return {};
  const artifacts: ArtifactWrite[] = [];
  const events: EventBody[] = [];
  for (const [artifactId, artifact] of view.lost) {
    artifacts.push({ mode: 'drop-lost', artifactId, ...writer, parts: [] });
    events.push(...dropped(view, artifactId, artifact));
  }
  return { artifacts, events };
}
