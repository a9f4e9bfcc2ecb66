import { adfToPlainText, commentToAdf } from './adf.ts';
import type { Clause } from './jql.ts';
import {
  type Comment,
  type ItemLink,
  type Person,
  projectOf,
  type SiteContent,
  STATUS_CATEGORIES,
  type WorkItem,
} from './model.ts';
import { AGENT_ACCOUNT } from './people.ts';

export interface NewWorkItem {
  readonly project?: string;
  readonly summary: string;
  readonly description?: WorkItem['description'];
  readonly type?: WorkItem['type'];
  readonly assignee?: string | null;
  readonly parent?: string | null;
  readonly comments?: readonly Comment[];
}

/** A site's rows. Whoever asks gets what that person may browse, and nothing tells missing from hidden. */
export interface Records {
  readonly people: readonly Person[];
  readonly content: SiteContent;
  person(nameOrAccountId: string): Person;
  /** By id or key, no matter who asks. */
  item(idOrKey: string): WorkItem | undefined;
  visible(viewer: Person, idOrKey: string): WorkItem | undefined;
  links(viewer: Person, key: string): readonly ItemLink[];
  children(viewer: Person, key: string): readonly WorkItem[];
  search(viewer: Person, clauses: readonly Clause[]): readonly WorkItem[];
  add(item: NewWorkItem): WorkItem;
  change(key: string, fields: Partial<Omit<WorkItem, 'id' | 'key'>>): WorkItem;
  comment(key: string, author: string, markdown: string): Comment;
}

/** Ids of added rows start far above the sample's. */
const FIRST_ADDED_ID = 50_000;

export function createRecords(content: SiteContent): Records {
  const items = new Map(content.items.map((item) => [item.key, item]));
  let lastId = FIRST_ADDED_ID;

  const byIdOrKey = (idOrKey: string): WorkItem | undefined =>
    items.get(idOrKey.toUpperCase()) ?? [...items.values()].find((item) => item.id === idOrKey);
  const mayBrowse = (viewer: Person, key: string): boolean => viewer.projects.includes(projectOf(key));
  const person = (nameOrAccountId: string): Person => {
    const found = content.people.find((one) => one.name === nameOrAccountId || one.accountId === nameOrAccountId);
    if (!found) {
      const names = content.people.filter(({ accountId }) => accountId !== AGENT_ACCOUNT.accountId);
      throw new Error(
        `nobody on this site is called ${nameOrAccountId}; there are ${names.map(({ name }) => name).join(', ')}`,
      );
    }
    return found;
  };

  const matches = (viewer: Person, item: WorkItem, clause: Clause): boolean => {
    const resolve = (value: string) => (value === 'currentUser' ? viewer.accountId : value);
    const wanted = clause.values.map((value) => resolve(value).toLowerCase());
    const fields: Readonly<Record<string, readonly (string | null | undefined)[]>> = {
      key: [item.key, item.id],
      parent: [item.parent, item.parent === null ? null : byIdOrKey(item.parent)?.id],
      project: [projectOf(item.key), content.projects.find((project) => project.key === projectOf(item.key))?.id],
      status: [item.status],
      statusCategory: [STATUS_CATEGORIES[item.status]?.name, STATUS_CATEGORIES[item.status]?.key],
      assignee: [item.assignee],
      summary: [item.summary],
      text: [
        [item.summary, adfToPlainText(item.description), ...item.comments.map((one) => adfToPlainText(one.body))].join(
          '\n',
        ),
      ],
    };
    const actual = (fields[clause.field] ?? []).flatMap((value) => (value ? [value.toLowerCase()] : []));
    if (clause.operator === '~') {
      const words = wanted.flatMap((value) => value.split(/[^\p{L}\p{N}]+/u)).filter(Boolean);
      return words.every((word) => actual.some((text) => text.includes(word)));
    }
    const found = wanted.some((value) => actual.includes(value));
    return clause.operator === '=' || clause.operator === 'in' ? found : !found;
  };

  const change: Records['change'] = (key, fields) => {
    const before = items.get(key);
    if (!before) throw new Error(`no work item ${key}`);
    const after: WorkItem = { ...before, updated: new Date().toISOString().replace('Z', '+0000'), ...fields };
    items.set(key, after);
    return after;
  };

  return {
    content,
    people: content.people,
    person,
    item: byIdOrKey,
    visible(viewer, idOrKey) {
      const item = byIdOrKey(idOrKey);
      return item && mayBrowse(viewer, item.key) ? item : undefined;
    },
    links: (viewer, key) =>
      content.links.filter(
        (link) =>
          (link.source === key || link.target === key) &&
          mayBrowse(viewer, link.source) &&
          mayBrowse(viewer, link.target),
      ),
    children: (viewer, key) => [...items.values()].filter((item) => item.parent === key && mayBrowse(viewer, item.key)),
    search: (viewer, clauses) =>
      [...items.values()].filter(
        (item) => mayBrowse(viewer, item.key) && clauses.every((clause) => matches(viewer, item, clause)),
      ),
    add(item) {
      const project = item.project ?? content.projects[0]?.key ?? 'SHOP';
      lastId += 1;
      const now = new Date().toISOString().replace('Z', '+0000');
      const added: WorkItem = {
        id: String(lastId),
        key: `${project}-${lastId}`,
        type: item.type ?? 'Task',
        summary: item.summary,
        description: item.description ?? null,
        status: 'To Do',
        priority: 'Medium',
        assignee: item.assignee ?? null,
        reporter: content.people[0]?.accountId ?? '',
        dueDate: null,
        labels: [],
        parent: item.parent ?? null,
        created: now,
        updated: now,
        comments: item.comments ?? [],
      };
      items.set(added.key, added);
      return added;
    },
    change,
    comment(key, author, markdown) {
      lastId += 1;
      const added: Comment = {
        id: String(lastId),
        author: person(author).accountId,
        body: commentToAdf(markdown),
        created: new Date().toISOString().replace('Z', '+0000'),
      };
      change(key, { comments: [...(items.get(key)?.comments ?? []), added] });
      return added;
    },
  };
}
