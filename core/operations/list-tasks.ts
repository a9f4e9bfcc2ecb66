import { invalidParams } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { ListPosition } from '../ports/task-store.ts';
import type { Caller } from '../principal.ts';
import type { OperationDeps } from './deps.ts';
import type { ListQuery, ListResult } from './operations.ts';

/*
 * Page tokens name a position, so a page costs the same however deep it is. They are bound to caller and filter by a
 * digest: a token of another list is refused. A task that changes while somebody pages moves to the front; it may be
 * missed on later pages, the ones that did not move never are.
 */

function binding(deps: OperationDeps, caller: Caller, query: ListQuery): string {
  const { tenant, principal, agent } = caller.owner;
  const { contextId = '', state = '', statusSince = '' } = query.filter;
  return deps.digest(JSON.stringify([tenant, principal, agent, contextId, state, statusSince])).slice(0, 16);
}

function writeToken(bound: string, position: ListPosition): string {
  return `${bound}.${position.statusAt.toString(36)}.${position.id}`;
}

function readToken(bound: string, token: string): ListPosition {
  const [prefix, at, ...rest] = token.split('.');
  const statusAt = Number.parseInt(at ?? '', 36);
  const position = { statusAt, id: rest.join('.') };
  if (prefix !== bound || position.id === '' || writeToken(bound, position) !== token) {
    throw invalidParams('pageToken', 'is not a token of this list');
  }
  return position;
}

/** ListTasks (A2A 1.0, 3.1.4): newest status first, only the caller's own. */
export async function listTasks(deps: OperationDeps, caller: Caller, query: ListQuery): Promise<ListResult> {
  const bound = binding(deps, caller, query);
  const page = await deps.store.list(caller.owner, {
    filter: query.filter,
    limit: query.pageSize,
    maxBytes: LIMITS.listBytes,
    artifacts: query.includeArtifacts,
    ...(query.historyLength !== undefined ? { historyLength: query.historyLength } : {}),
    ...(query.pageToken ? { after: readToken(bound, query.pageToken) } : {}),
  });
  const last = page.snapshots.at(-1);
  const nextPageToken =
    page.more && last
      ? writeToken(bound, { statusAt: Date.parse(last.record.status.timestamp), id: last.record.id })
      : '';
  return {
    tasks: page.snapshots.map(({ task }) =>
      query.includeArtifacts ? { ...task, artifacts: task.artifacts ?? [] } : task,
    ),
    totalSize: page.total,
    pageSize: query.pageSize,
    nextPageToken,
  };
}
