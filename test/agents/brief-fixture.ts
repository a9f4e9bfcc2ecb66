import { briefAgent } from '../../adapters/agents/brief/brief-agent.ts';
import type { Capabilities, Comment, Invocation, Issue, Jira } from '../../core/ports/agent.ts';
import { type FakeTurnOptions, fakeJira, fakeTurn, jiraError, runTurn } from './fake-turn.ts';

const todo = { name: 'To Do', category: 'new' } as const;
const doing = { name: 'Doing', category: 'indeterminate' } as const;
export const done = { name: 'Done', category: 'done' } as const;
export const item = (number: number, fields: Partial<Issue> = {}): Issue => ({
  id: String(10_000 + number),
  key: `SHOP-${number}`,
  summary: `Item ${number}`,
  status: doing,
  assignee: 'Bob',
  description: `About ${number}`,
  labels: [],
  subtasks: [],
  links: [],
  ...fields,
});
export const linked = (number: number, status: typeof doing | typeof done | typeof todo = doing) => ({
  id: String(10_000 + number),
  key: `SHOP-${number}`,
  summary: `Item ${number}`,
  status,
});

const SHOP_1 = item(1, {
  due: '2026-11-18',
  subtasks: [linked(2, done), linked(3, todo)],
  links: [
    { ...linked(4), relation: 'is blocked by' },
    { ...linked(5), relation: 'blocks' },
    { ...linked(6, done), relation: 'is blocked by' },
  ],
});
const COMMENTS: readonly Comment[] = [
  { id: '2', author: 'Bob', body: 'Working on it.\n\nIs **Friday** fine?', created: '2026-11-19T09:00:00.000Z' },
  { id: '1', author: 'Alice', body: 'Can this go out?', created: '2026-11-18T09:00:00.000Z' },
];

/** A Jira with these items, which counts what it is asked. */
export function site(items: readonly Issue[] = [SHOP_1, item(2), item(3), item(7)], methods: Partial<Jira> = {}) {
  const asked: string[] = [];
  const jira = fakeJira({
    async issue(id) {
      asked.push(`issue ${id}`);
      const found = items.find((one) => one.id === id || one.key === id);
      if (!found) throw jiraError('not-found');
      return found;
    },
    async comments(id) {
      asked.push(`comments ${id}`);
      return id === SHOP_1.id ? COMMENTS : [];
    },
    async search(jql) {
      asked.push(`search ${jql}`);
      return [];
    },
    ...methods,
  });
  return { jira, asked };
}

export const run = (options: FakeTurnOptions & { readonly jira?: Jira; readonly invocation?: Invocation }) => {
  const { jira = site().jira, invocation, ...turn } = options;
  const capabilities: Capabilities = { jira, ...(invocation && { invocation }) };
  return runTurn(briefAgent, fakeTurn({ capabilities, ...turn }));
};
export const assigned: Invocation = {
  type: 'ISSUE_ASSIGNMENT',
  issue: { id: '10001', key: 'SHOP-1', summary: 'From the message' },
};
export const mentioned = (body: string): Invocation => ({
  ...assigned,
  type: 'ISSUE_COMMENT_MENTION',
  comment: { id: '9', body },
});
