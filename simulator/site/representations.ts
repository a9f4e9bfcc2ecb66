import type { JsonObject } from '../json.ts';
import { type Comment, type LinkType, type Person, projectOf, STATUS_CATEGORIES, type WorkItem } from './model.ts';
import type { Records } from './records.ts';

/** REST v3 bodies, as much of them as an agent reads. */
export interface Representations {
  issue(viewer: Person, item: WorkItem, fields: readonly string[]): JsonObject;
  comment(comment: Comment): JsonObject;
  person(accountId: string | null): JsonObject | null;
}

const LINK_NAMES: Readonly<
  Record<LinkType, { readonly inward: string; readonly outward: string; readonly id: string }>
> = {
  Blocks: { id: '40001', inward: 'is blocked by', outward: 'blocks' },
  Relates: { id: '40002', inward: 'relates to', outward: 'relates to' },
};

const slug = (name: string): string => name.toLowerCase().replaceAll(' ', '-');

export function createRepresentations(records: Records, apiBaseUrl: string): Representations {
  const rest = `${apiBaseUrl}/rest/api/3`;

  const person: Representations['person'] = (accountId) => {
    const found = records.people.find((one) => one.accountId === accountId);
    if (!found) return null;
    return {
      self: `${rest}/user?accountId=${encodeURIComponent(found.accountId)}`,
      accountId: found.accountId,
      accountType: found.name === 'agent' ? 'app' : 'atlassian',
      displayName: found.displayName,
      active: true,
    };
  };
  const comment: Representations['comment'] = (one) => ({
    self: `${rest}/comment/${one.id}`,
    id: one.id,
    author: person(one.author),
    updateAuthor: person(one.author),
    body: one.body,
    created: one.created,
    updated: one.created,
    jsdPublic: true,
  });
  const status = (item: WorkItem): JsonObject => {
    const category = STATUS_CATEGORIES[item.status];
    return { id: slug(item.status), name: item.status, statusCategory: category ? { ...category } : null };
  };
  const issueType = (item: WorkItem): JsonObject => ({
    id: slug(item.type),
    name: item.type,
    subtask: item.type === 'Sub-task',
  });
  const short = (item: WorkItem): JsonObject => ({
    id: item.id,
    key: item.key,
    self: `${rest}/issue/${item.id}`,
    fields: {
      summary: item.summary,
      status: status(item),
      priority: { name: item.priority },
      issuetype: issueType(item),
    },
  });
  const links = (viewer: Person, item: WorkItem): readonly JsonObject[] =>
    records.links(viewer, item.key).flatMap((link) => {
      const outward = link.source === item.key;
      const other = records.item(outward ? link.target : link.source);
      if (!other) return [];
      const type = { name: link.type, ...LINK_NAMES[link.type] };
      return [{ id: link.id, type, [outward ? 'outwardIssue' : 'inwardIssue']: short(other) }];
    });

  const allFields = (viewer: Person, item: WorkItem): JsonObject => {
    const parent = item.parent === null ? undefined : records.visible(viewer, item.parent);
    const project = records.content.projects.find((one) => one.key === projectOf(item.key));
    return {
      summary: item.summary,
      description: item.description,
      status: status(item),
      priority: { id: slug(item.priority), name: item.priority },
      issuetype: issueType(item),
      project: project ? { ...project } : null,
      assignee: person(item.assignee),
      reporter: person(item.reporter),
      creator: person(item.reporter),
      duedate: item.dueDate,
      labels: item.labels,
      created: item.created,
      updated: item.updated,
      resolution: item.status === 'Done' ? { name: 'Done' } : null,
      ...(parent ? { parent: short(parent) } : {}),
      subtasks: records
        .children(viewer, item.key)
        .filter((child) => child.type === 'Sub-task')
        .map(short),
      issuelinks: links(viewer, item),
      comment: {
        comments: item.comments.map(comment),
        maxResults: item.comments.length,
        total: item.comments.length,
        startAt: 0,
      },
    };
  };

  return {
    person,
    comment,
    issue(viewer, item, fields) {
      const every = allFields(viewer, item);
      const all = fields.length === 0 || fields.some((field) => field === '*all' || field === '*navigable');
      const chosen = Object.entries(every).filter(
        ([name]) => (all || fields.includes(name)) && !fields.includes(`-${name}`),
      );
      return { id: item.id, key: item.key, self: `${rest}/issue/${item.id}`, fields: Object.fromEntries(chosen) };
    },
  };
}
