import { smallMessage } from '../frame-size.ts';
import { LIMITS } from '../limits.ts';
import type { EdgeProfile, Incoming } from '../ports/edge.ts';
import type { Accepted } from '../ports/task-store.ts';
import { acceptMessage } from './accept.ts';
import type { OperationDeps } from './deps.ts';
import { endsAt, openingOf, type Reader, stateOf } from './follow.ts';
import type { Frame } from './operations.ts';
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

/** A constant, because an abort without a reason makes an error with a stack. */
const OVER = 'the first frame is due';

function taskFrame({ record, sequence }: Accepted): Frame {
  const status = { state: 'TASK_STATE_SUBMITTED', timestamp: new Date(record.createdAt).toISOString() } as const;
  return { sequence, body: { task: { id: record.id, contextId: record.contextId, status } } };
}

/** What is committed within a moment, up to the agent's first update. */
async function earlyFrames(deps: OperationDeps, reader: Reader, accepted: Accepted): Promise<readonly Frame[]> {
  const moment = new AbortController();
  const over = () => moment.abort(OVER);
  const cancel = deps.clock.timer(LIMITS.firstUpdateMs, over);
  reader.signal.addEventListener('abort', over, { once: true });
  if (reader.signal.aborted) over();
  const early: Frame[] = [];
  try {
    const open = async (): Promise<Opening> => ({ frames: [], cursor: accepted.sequence });
    for await (const frame of new TaskFrames(deps, { ...reader, signal: moment.signal }, { open, scope: 'terminal' })) {
      early.push(frame);
      if (isAgentUpdate(frame, accepted)) break;
    }
  } finally {
    cancel();
    reader.signal.removeEventListener('abort', over);
  }
  return early;
}

/**
 * A new task on an edge that may answer with a bare Message: the first frame waits a moment for the agent's first
 * update, because once a Task was shown the answer must be that task.
 */
async function openWithReply(deps: OperationDeps, reader: Reader, accepted: Accepted): Promise<Opening> {
  const early = await earlyFrames(deps, reader, accepted);
  const last = early.at(-1);
  if (last && stateOf(last.body) === 'TASK_STATE_COMPLETED') {
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

async function opening(deps: OperationDeps, edge: EdgeProfile, { reader, accepted }: Begun): Promise<Opening> {
  if (accepted.kind === 'create') {
    if (edge.messageAnswers) return openWithReply(deps, reader, accepted);
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
  { signal }: { readonly signal: AbortSignal },
): Promise<AsyncIterable<Frame>> {
  const accepted = await acceptMessage(deps, edge, incoming, edge.messageAnswers ? 'message' : 'task');
  const reader: Reader = { owner: incoming.caller.owner, taskId: accepted.record.id, signal };
  return new TaskFrames(deps, reader, { open: () => opening(deps, edge, { reader, accepted }), scope: SCOPE });
}
