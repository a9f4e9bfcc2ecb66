import { smallMessage } from '../frame-size.ts';
import { LIMITS } from '../limits.ts';
import type { EdgeProfile, Incoming } from '../ports/edge.ts';
import type { Stop } from '../ports/stop.ts';
import type { Accepted } from '../ports/task-store.ts';
import { acceptMessage } from './accept.ts';
import type { OperationDeps } from './deps.ts';
import { endsAt, openingOf, type Reader, stateOf } from './follow.ts';
import type { Frame, FrameStream } from './operations.ts';
import { type Opening, TaskFrames } from './task-frames.ts';

const SCOPE = 'input-required';

/** The service's own notice that a turn began, the first event after the accepted one, is no answer of the agent yet. */
function isAgentUpdate({ sequence = 0, body }: Frame, accepted: Accepted): boolean {
  return (
    sequence > accepted.sequence + 1 ||
    !('statusUpdate' in body) ||
    body.statusUpdate.status.state !== 'TASK_STATE_WORKING' ||
    !!body.statusUpdate.status.message
  );
}

/** Of a task that this very message made: its record is still what the first event says. */
function taskFrame({ record, sequence }: Accepted): Frame {
  const { id, contextId, status } = record;
  return { sequence, body: { task: { id, contextId, status } } };
}

interface Early {
  readonly frames: readonly Frame[];
  /** Whether a bare Message completed the task. Undefined: the store has to be asked. */
  readonly replied: boolean | undefined;
}

/** What is committed within a moment, up to the agent's first update. */
async function earlyFrames(deps: OperationDeps, { reader, accepted }: Begun): Promise<Early> {
  const open = async (): Promise<Opening> => ({ frames: [], cursor: accepted.sequence });
  const following = new TaskFrames(deps, reader, { open, scope: 'terminal' });
  const cancel = deps.clock.timer(LIMITS.firstUpdateMs, () => void following.return());
  const frames: Frame[] = [];
  try {
    for (let step = await following.next(); !step.done; step = await following.next()) {
      frames.push(step.value);
      if (isAgentUpdate(step.value, accepted)) break;
    }
    return { frames, replied: following.replied };
  } finally {
    cancel();
    void following.return();
  }
}

/**
 * A new task on an edge that may answer with a bare Message: the first frame waits a moment for the agent's first
 * update, because once a Task was shown the answer must be that task.
 */
async function openWithReply(deps: OperationDeps, begun: Begun): Promise<Opening> {
  const { reader, accepted } = begun;
  const { frames: early, replied } = await earlyFrames(deps, begun);
  const last = early.at(-1);
  if (last && replied !== false && stateOf(last.body) === 'TASK_STATE_COMPLETED') {
    const record = await deps.store.record(reader.owner, reader.taskId);
    if (record?.reply && record.status.message) {
      const message = smallMessage(record.status.message);
      return { frames: [{ sequence: last.sequence ?? record.sequence, body: { message } }] };
    }
  }
  const end = early.findIndex(({ body }) => endsAt(SCOPE, stateOf(body)));
  if (end >= 0) return { frames: [taskFrame(accepted), ...early.slice(0, end + 1)] };
  return { frames: [taskFrame(accepted), ...early], cursor: last?.sequence ?? accepted.sequence };
}

async function opening(deps: OperationDeps, edge: EdgeProfile, begun: Begun): Promise<Opening> {
  const { reader, accepted } = begun;
  if (accepted.kind === 'create') {
    if (edge.messageAnswers) return openWithReply(deps, begun);
    return { frames: [taskFrame(accepted)], cursor: accepted.sequence };
  }
  const snapshot = await deps.store.read(reader.owner, reader.taskId, { artifacts: true, historyLength: 0 });
  if (!snapshot) return { frames: [] };
  const { record } = snapshot;
  if (record.reply && accepted.answer === 'message' && edge.messageAnswers && record.status.message) {
    return { frames: [{ sequence: record.sequence, body: { message: smallMessage(record.status.message) } }] };
  }
  return openingOf(snapshot, SCOPE);
}

interface Begun {
  readonly reader: Reader;
  readonly accepted: Accepted;
}

/**
 * SendStreamingMessage (A2A 1.0, 3.1.2). Resolves when the message is accepted. The stream starts with the task (or is one
 * Message) and ends at a terminal state and at INPUT_REQUIRED; at AUTH_REQUIRED it stays open. A repeat joins with a
 * snapshot. Leaving it leaves the task alone.
 */
export async function sendStreamingMessage(
  deps: OperationDeps,
  edge: EdgeProfile,
  incoming: Incoming,
  { signal }: { readonly signal: Stop },
): Promise<FrameStream> {
  const accepted = await acceptMessage(deps, edge, incoming, edge.messageAnswers ? 'message' : 'task');
  const reader: Reader = { owner: incoming.caller.owner, taskId: accepted.record.id, signal };
  const begun: Begun = { reader, accepted };
  return new TaskFrames(deps, reader, { open: () => opening(deps, edge, begun), scope: SCOPE });
}
