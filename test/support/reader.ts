import type { EventBody } from '../../core/event.ts';
import type { Message } from '../../core/message.ts';
import type { Artifact, TaskStatus } from '../../core/task.ts';

/** What a client of a stream knows. */
export interface ReaderView {
  readonly status?: TaskStatus;
  readonly artifacts: readonly Artifact[];
  readonly message?: Message;
}

export const EMPTY_VIEW: ReaderView = { artifacts: [] };

/**
 * A client that believes the strict reading of A2A 1.0: a Task replaces everything, an artifact update replaces its
 * artifact unless it appends, and an append to an artifact that was never seen is an error of the server.
 */
export function applyEvent(view: ReaderView, event: EventBody): ReaderView {
  if ('message' in event) return { ...view, message: event.message };
  if ('task' in event) return { status: event.task.status, artifacts: event.task.artifacts ?? [] };
  if ('statusUpdate' in event) return { ...view, status: event.statusUpdate.status };
  const { artifact, append = false } = event.artifactUpdate;
  const known = view.artifacts.find(({ artifactId }) => artifactId === artifact.artifactId);
  if (append && !known) throw new Error('an append to an artifact that no reader has');
  if (artifact.metadata?.superseded === true) {
    return { ...view, artifacts: view.artifacts.filter((each) => each !== known) };
  }
  if (!known) return { ...view, artifacts: [...view.artifacts, artifact] };
  const next = append ? { ...known, ...artifact, parts: [...known.parts, ...artifact.parts] } : artifact;
  return { ...view, artifacts: view.artifacts.map((each) => (each === known ? next : each)) };
}
