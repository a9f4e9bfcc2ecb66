import type { StoredEvent } from '../event.ts';
import { smallMessage } from '../frame-size.ts';
import { LIMITS } from '../limits.ts';
import { pause } from '../ports/clock.ts';
import type { EdgeProfile, Incoming } from '../ports/edge.ts';
import type { Accepted } from '../ports/task-store.ts';
import { acceptMessage } from './accept.ts';
import type { OperationDeps } from './deps.ts';
import { endsAt, eventsAfter, framesAfter, framesFrom, type Reader, stateOf } from './follow.ts';
import type { Frame } from './operations.ts';

/** The service's own notice that a turn began, the first event after the accepted one, is no answer of the agent yet. */
function isAgentUpdate(event: StoredEvent, accepted: Accepted): boolean {
  const { body } = event;
  return (
    event.sequence > accepted.sequence + 1 ||
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

/**
 * A new task on an edge that may answer with a bare Message: the first frame waits a moment for the agent's first
 * update, because once a Task was shown the answer must be that task.
 */
async function* newTaskWithReply(deps: OperationDeps, reader: Reader, accepted: Accepted): AsyncGenerator<Frame> {
  const moment = new AbortController();
  const limited: Reader = { ...reader, signal: AbortSignal.any([reader.signal, moment.signal]) };
  void pause(deps.clock, LIMITS.firstUpdateMs, limited.signal).then(() => moment.abort(OVER));
  const early: StoredEvent[] = [];
  try {
    for await (const event of eventsAfter(deps, limited, accepted.sequence)) {
      early.push(event);
      if (isAgentUpdate(event, accepted)) break;
    }
  } finally {
    moment.abort(OVER);
  }
  const last = early.at(-1);
  if (last && stateOf(last) === 'TASK_STATE_COMPLETED') {
    const record = await deps.store.record(reader.owner, reader.taskId);
    if (record?.reply && record.status.message) {
      yield { sequence: last.sequence, body: { message: smallMessage(record.status.message) } };
      return;
    }
  }
  yield taskFrame(accepted);
  const ends = endsAt('input-required');
  for (const event of early) {
    yield { sequence: event.sequence, body: event.body };
    if (ends(stateOf(event))) return;
  }
  yield* framesAfter(deps, reader, { cursor: last?.sequence ?? accepted.sequence, ends: 'input-required' });
}

async function* frames(
  deps: OperationDeps,
  edge: EdgeProfile,
  reader: Reader,
  accepted: Accepted,
): AsyncGenerator<Frame> {
  if (accepted.kind === 'create') {
    if (edge.messageAnswers) {
      yield* newTaskWithReply(deps, reader, accepted);
      return;
    }
    yield taskFrame(accepted);
    yield* framesAfter(deps, reader, { cursor: accepted.sequence, ends: 'input-required' });
    return;
  }
  const snapshot = await deps.store.read(reader.owner, reader.taskId, { artifacts: true, historyLength: 0 });
  if (!snapshot) return;
  const { record } = snapshot;
  if (record.reply && accepted.answer === 'message' && edge.messageAnswers && record.status.message) {
    yield { sequence: record.sequence, body: { message: smallMessage(record.status.message) } };
    return;
  }
  yield* framesFrom(deps, reader, { snapshot, ends: 'input-required' });
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
  return frames(deps, edge, reader, accepted);
}
