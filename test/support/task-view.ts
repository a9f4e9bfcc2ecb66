import type { AcceptView, ArtifactView, ExecutionRecord, TaskRecord, TaskView } from '../../core/ports/task-store.ts';
import type { TaskState, TaskStatus } from '../../core/task.ts';

/** 2030-01-01T00:00:00.000Z */
export const NOW = 1_893_456_000_000;
export const OWNER = { tenant: 'test', principal: 'alice', agent: 'agent' } as const;

export function statusOf(state: TaskState, text?: string): TaskStatus {
  const timestamp = new Date(NOW - 1_000).toISOString();
  if (text === undefined) return { state, timestamp };
  const message = { messageId: 'said', contextId: 'context', taskId: 'task', role: 'ROLE_AGENT' as const };
  return { state, timestamp, message: { ...message, parts: [{ text }] } };
}

export function recordOf(state: TaskState, changes: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id: 'task',
    owner: OWNER,
    contextId: 'context',
    status: statusOf(state),
    reply: false,
    sequence: 2,
    messages: 1,
    deadlineAt: NOW + 60_000,
    createdAt: NOW - 5_000,
    updatedAt: NOW - 1_000,
    ...changes,
  };
}

export function executionOf(ordinal: number, changes: Partial<ExecutionRecord> = {}): ExecutionRecord {
  return { ordinal, attempt: 0, leased: false, ...changes };
}

export function viewOf(record: TaskRecord, changes: Partial<TaskView> = {}): TaskView {
  return { now: NOW, record, open: [], artifacts: new Map(), lost: new Map(), ...changes };
}

export function acceptViewOf(changes: Partial<AcceptView> = {}): AcceptView {
  return { now: NOW, tenant: 'active', free: false, queued: { tenant: 0, everybody: 0 }, ...changes };
}

export function artifactsOf(views: Readonly<Record<string, ArtifactView>>): ReadonlyMap<string, ArtifactView> {
  return new Map(Object.entries(views));
}
