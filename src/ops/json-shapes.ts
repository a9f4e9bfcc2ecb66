import type { AuditEntry, ExecutionEntry, TenantEntry, TurnEntry } from '../../core/ports/operator-store.ts';
import type { TaskRecord } from '../../core/ports/task-store.ts';
import { cleaned, messageJson } from './content.ts';

/*
 * What `--json` prints. Times are ISO 8601 in UTC. Nothing of what people wrote, unless texts are asked for, and nothing
 * about tokens in any case.
 */

function iso(at: number): string {
  return new Date(at).toISOString();
}

/** Every member whose name says that it is a time. What is undefined is left out by JSON. */
export function withIsoTimes<T extends object>(entry: T): object {
  return Object.fromEntries(
    Object.entries(entry).map(([name, value]) => [
      name,
      typeof value === 'number' && /(^at|At|Until|^until)$/.test(name) ? iso(value) : value,
    ]),
  );
}

export function turnJson(turn: TurnEntry): object {
  return withIsoTimes({ ...turn, ...(turn.error === undefined ? {} : { error: cleaned(turn.error) }) });
}

export function executionJson({ taskId, owner, contextId, state, ...turn }: ExecutionEntry): object {
  return { taskId, ...owner, contextId, state, ...turnJson(turn) };
}

export function auditJson(entry: AuditEntry): object {
  return withIsoTimes(entry);
}

export function tenantJson(entry: TenantEntry): object {
  return withIsoTimes(entry);
}

export function taskJson(record: TaskRecord, texts: boolean): object {
  const { id, owner, contextId, delegate, status, metadata, sequence, messages, parked } = record;
  const retryOf = metadata?.retryOf;
  return {
    id,
    ...owner,
    ...(delegate === undefined ? {} : { delegate }),
    contextId,
    state: status.state,
    stateSince: status.timestamp,
    ...(status.message ? { statusMessage: messageJson(status.message, texts) } : {}),
    ...(retryOf === undefined ? {} : { retryOf }),
    ...(texts && metadata ? { metadata: cleaned(metadata) } : {}),
    ...{ sequence, messages },
    ...(parked ? { parkedTurn: parked.ordinal } : {}),
    ...withIsoTimes({
      createdAt: record.createdAt,
      updatedAt: record.updatedAt,
      ...(record.deadlineAt === undefined ? {} : { deadlineAt: record.deadlineAt }),
    }),
  };
}
