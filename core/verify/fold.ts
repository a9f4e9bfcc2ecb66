import type { ArtifactUpdate, EventBody } from '../event.ts';
import { isText, type JsonObject, type Part, textOf } from '../message.ts';
import type { Artifact, TaskStatus } from '../task.ts';

/*
 * What a reader knows who has seen every event of a task from the first. That is all a client has, so whatever a
 * snapshot says must be the same: a Task replaces everything, a status update replaces the status, an artifact update
 * replaces its artifact unless it appends.
 */

export interface Folded {
  readonly status: TaskStatus | undefined;
  readonly metadata: JsonObject | undefined;
  /** In the order in which they first appeared. */
  readonly artifacts: ReadonlyMap<string, Artifact>;
}

/** What an event cannot be added to. */
export type FoldFault = 'append-to-unknown' | 'bare-message';

export interface Fold {
  /** Answers why the event makes no sense here; then it is left out. */
  add(body: EventBody): FoldFault | undefined;
  readonly folded: Folded;
}

/** The last word on an artifact that only lost attempts wrote: it is empty and superseded. An agent's own mark is none. */
export function isWithdrawn({ artifact, append, lastChunk }: ArtifactUpdate): boolean {
  return (
    artifact.metadata?.superseded === true &&
    append !== true &&
    lastChunk === true &&
    artifact.parts.every(isText) &&
    textOf(artifact.parts) === ''
  );
}

export function createFold(): Fold {
  let status: TaskStatus | undefined;
  let metadata: JsonObject | undefined;
  const artifacts = new Map<string, Artifact & { readonly parts: Part[] }>();

  function addArtifact(update: ArtifactUpdate): FoldFault | undefined {
    const { artifact, append } = update;
    const known = artifacts.get(artifact.artifactId);
    if (append === true) {
      if (!known) return 'append-to-unknown';
      const { parts, ...labels } = artifact;
      // Appended to in place: an artifact of thousands of chunks would be copied thousands of times.
      known.parts.push(...parts);
      const merged = labels.metadata ? { metadata: { ...known.metadata, ...labels.metadata } } : {};
      artifacts.set(artifact.artifactId, { ...known, ...labels, ...merged });
    } else if (isWithdrawn(update)) artifacts.delete(artifact.artifactId);
    else artifacts.set(artifact.artifactId, { ...artifact, parts: [...artifact.parts] });
    return undefined;
  }

  return {
    add(body) {
      if ('message' in body) return 'bare-message';
      if ('artifactUpdate' in body) return addArtifact(body.artifactUpdate);
      if ('statusUpdate' in body) {
        status = body.statusUpdate.status;
        metadata = body.statusUpdate.metadata ?? metadata;
        return undefined;
      }
      status = body.task.status;
      metadata = body.task.metadata;
      artifacts.clear();
      for (const artifact of body.task.artifacts ?? []) {
        artifacts.set(artifact.artifactId, { ...artifact, parts: [...artifact.parts] });
      }
      return undefined;
    },
    get folded() {
      return { status, metadata, artifacts };
    },
  };
}

/** What all these events add up to. */
export function foldEvents(events: Iterable<EventBody>): Folded {
  const fold = createFold();
  for (const event of events) fold.add(event);
  return fold.folded;
}
