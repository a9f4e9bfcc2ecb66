import {
  type Artifact,
  isTerminal,
  type Message,
  type StreamResponse,
  type Task,
  type TaskState,
  type TaskStatus,
} from './a2a.ts';

/**
 * Puts a task together from one stream's frames, as Jira's client does: the snapshot first, then the updates on top.
 * An append for an artifact that this stream has not shown is ignored there, so it is ignored here and reported.
 */
export interface Reassembly {
  /** Returns what is wrong with this frame at this place. */
  apply(frame: StreamResponse): readonly string[];
  task(): Task | undefined;
  message(): Message | undefined;
  /** Every state seen, repeats left out. */
  states(): readonly TaskState[];
}

export function createReassembly(): Reassembly {
  let head: Omit<Task, 'artifacts' | 'status'> | undefined;
  let status: TaskStatus | undefined;
  let message: Message | undefined;
  let frames = 0;
  let over = false;
  const artifacts = new Map<string, Artifact>();
  const states: TaskState[] = [];

  const see = (next: TaskStatus): void => {
    status = next;
    if (states.at(-1) !== next.state) states.push(next.state);
  };

  const applyTask = (task: Task): readonly string[] => {
    const faults = frames === 1 ? [] : [head ? 'a second task event' : 'the task event is not the first one'];
    const { artifacts: snapshot, status: first, ...rest } = task;
    head = rest;
    for (const artifact of snapshot ?? []) artifacts.set(artifact.artifactId, artifact);
    see(first);
    return faults;
  };

  const applyArtifact = (update: NonNullable<StreamResponse['artifactUpdate']>): readonly string[] => {
    const { artifactId, parts } = update.artifact;
    const before = artifacts.get(artifactId);
    if (!update.append) {
      artifacts.set(artifactId, update.artifact);
      return [];
    }
    if (!before) return [`an append to artifact ${artifactId}, which this stream has not shown`];
    artifacts.set(artifactId, { ...before, ...update.artifact, parts: [...before.parts, ...parts] });
    return [];
  };

  const misplaced = (ids: { readonly taskId: string; readonly contextId: string }): readonly string[] => {
    if (!head) return ['an update before the task event'];
    const faults = ids.taskId === head.id ? [] : [`an update of task ${ids.taskId} in the stream of ${head.id}`];
    return ids.contextId === head.contextId ? faults : [...faults, 'an update with another contextId'];
  };

  return {
    apply(frame) {
      frames += 1;
      // A finished task's artifacts may follow its task event when they do not fit into it; nothing follows an update.
      const late = over ? ['an event after the terminal one'] : [];
      if (frame.task) return [...late, ...applyTask(frame.task)];
      if (frame.statusUpdate) {
        const faults = misplaced(frame.statusUpdate);
        see(frame.statusUpdate.status);
        over = isTerminal(frame.statusUpdate.status.state);
        return [...late, ...faults];
      }
      if (frame.artifactUpdate)
        return [...late, ...misplaced(frame.artifactUpdate), ...applyArtifact(frame.artifactUpdate)];
      if (frame.message) {
        message = frame.message;
        return frames === 1 ? [] : ['a message event in a stream of other events'];
      }
      return [];
    },
    task: () => (head && status ? { ...head, status, artifacts: [...artifacts.values()] } : undefined),
    message: () => message,
    states: () => [...states],
  };
}
