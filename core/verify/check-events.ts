import { escapedLength } from '../escaped-text.ts';
import type { EventBody } from '../event.ts';
import { LIMITS } from '../limits.ts';
import { isTerminal, type TaskState, type TaskStatus } from '../task.ts';
import type { TaskReport } from './findings.ts';
import { createFold, type Folded } from './fold.ts';
import type { EventFacts, TaskFacts } from './stored-facts.ts';
import { parseEvent } from './stored-json.ts';

/** The state machine: what may follow each state. A follow-up to a task that runs says its state again. */
const NEXT: Readonly<Record<TaskState, readonly TaskState[]>> = {
  TASK_STATE_SUBMITTED: ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_CANCELED', 'TASK_STATE_FAILED'],
  TASK_STATE_WORKING: [
    'TASK_STATE_WORKING',
    'TASK_STATE_INPUT_REQUIRED',
    'TASK_STATE_AUTH_REQUIRED',
    'TASK_STATE_COMPLETED',
    'TASK_STATE_FAILED',
    'TASK_STATE_CANCELED',
    'TASK_STATE_REJECTED',
  ],
  TASK_STATE_INPUT_REQUIRED: ['TASK_STATE_WORKING', 'TASK_STATE_CANCELED', 'TASK_STATE_FAILED'],
  TASK_STATE_AUTH_REQUIRED: ['TASK_STATE_WORKING', 'TASK_STATE_CANCELED', 'TASK_STATE_FAILED'],
  TASK_STATE_COMPLETED: [],
  TASK_STATE_FAILED: [],
  TASK_STATE_CANCELED: [],
  TASK_STATE_REJECTED: [],
};

const FOLD_FAULTS = {
  'append-to-unknown': 'appends to an artifact that no reader has',
  'bare-message': 'is a bare message',
} as const;

function statusOf(body: EventBody): TaskStatus | undefined {
  if ('statusUpdate' in body) return body.statusUpdate.status;
  return 'task' in body ? body.task.status : undefined;
}

/** Ids that the event says it is of. */
function subjectOf(body: EventBody): { readonly id: unknown; readonly contextId: unknown } {
  if ('task' in body) return { id: body.task.id, contextId: body.task.contextId };
  const { taskId, contextId } =
    'statusUpdate' in body ? body.statusUpdate : 'artifactUpdate' in body ? body.artifactUpdate : body.message;
  return { id: taskId, contextId };
}

function checkFrame({ sequence, json }: EventFacts, body: EventBody, report: TaskReport): void {
  // Escaping makes text at most six times longer.
  if (json.length * 6 <= LIMITS.frameChars) return;
  const length = escapedLength(body);
  if (length > LIMITS.frameChars) report('frame', `event ${sequence} has ${length} characters`);
}

/** Looks at every event of the task, one after the other; answers how many there are and what they add up to. */
export async function checkEvents(
  task: TaskFacts,
  report: TaskReport,
): Promise<{ readonly count: number; readonly folded: Folded }> {
  const fold = createFold();
  let count = 0;
  let last = 0;
  let before: TaskStatus | undefined;
  let ended: number | undefined;

  function checkStatus(sequence: number, status: TaskStatus): void {
    if (before && ended === undefined && !NEXT[before.state].includes(status.state)) {
      report('transition', `event ${sequence} goes from ${before.state} to ${status.state}`);
    }
    if (before && Date.parse(status.timestamp) < Date.parse(before.timestamp)) {
      report('timestamp', `event ${sequence} is of ${status.timestamp}, the status before it of ${before.timestamp}`);
    }
    if (isTerminal(status.state)) ended ??= sequence;
    before = status;
  }

  for await (const event of task.events()) {
    const { sequence } = event;
    count += 1;
    if (sequence !== last + 1) report('sequence', `event ${sequence} comes after event ${last}`);
    last = sequence;
    if (ended !== undefined) report('terminal', `event ${sequence} follows event ${ended}, which ends the task`);
    const body = parseEvent(event.json);
    if (!body) {
      report('unreadable', `event ${sequence}`);
      continue;
    }
    const { id, contextId } = subjectOf(body);
    if (id !== task.id || (task.context && contextId !== task.context.id)) {
      report('event', `event ${sequence} is of another task or context`);
    }
    const status = statusOf(body);
    if (('task' in body && status?.state === 'TASK_STATE_SUBMITTED') !== (count === 1)) {
      report(
        'event',
        count === 1 ? 'the first event is not the submitted task' : `event ${sequence} starts the task again`,
      );
    }
    checkFrame(event, body, report);
    if (status) checkStatus(sequence, status);
    const fault = fold.add(body);
    if (fault) report('event', `event ${sequence} ${FOLD_FAULTS[fault]}`);
  }
  if (last !== task.sequence) report('sequence', `the last event is ${last}, the task says ${task.sequence}`);
  return { count, folded: fold.folded };
}
