import type { AdfNode } from './adf.ts';

export interface Person {
  /** What the command line and the tests call them. */
  readonly name: string;
  readonly accountId: string;
  readonly displayName: string;
  /** Keys of the projects that they may browse; everything else is to them as if it did not exist. */
  readonly projects: readonly string[];
}

export interface Comment {
  readonly id: string;
  readonly author: string;
  readonly body: AdfNode;
  readonly created: string;
}

export type LinkType = 'Blocks' | 'Relates';

export interface WorkItem {
  readonly id: string;
  readonly key: string;
  readonly type: 'Epic' | 'Story' | 'Bug' | 'Task' | 'Sub-task';
  readonly summary: string;
  readonly description: AdfNode | null;
  readonly status: string;
  readonly priority: string;
  readonly assignee: string | null;
  readonly reporter: string;
  readonly dueDate: string | null;
  readonly labels: readonly string[];
  readonly parent: string | null;
  readonly created: string;
  readonly updated: string;
  readonly comments: readonly Comment[];
}

/** `source` blocks (or relates to) `target`. */
export interface ItemLink {
  readonly id: string;
  readonly type: LinkType;
  readonly source: string;
  readonly target: string;
}

export interface Project {
  readonly id: string;
  readonly key: string;
  readonly name: string;
}

/** What a site starts with. Account ids stand in `assignee`, `reporter` and `author`. */
export interface SiteContent {
  readonly projects: readonly Project[];
  readonly people: readonly Person[];
  readonly items: readonly WorkItem[];
  readonly links: readonly ItemLink[];
}

export const STATUS_CATEGORIES: Readonly<Record<string, { readonly key: string; readonly name: string }>> = {
  'To Do': { key: 'new', name: 'To Do' },
  Blocked: { key: 'new', name: 'To Do' },
  'In Progress': { key: 'indeterminate', name: 'In Progress' },
  'In Review': { key: 'indeterminate', name: 'In Progress' },
  Done: { key: 'done', name: 'Done' },
};

export const projectOf = (key: string): string => key.slice(0, key.lastIndexOf('-'));
