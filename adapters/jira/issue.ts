import * as z from 'zod';
import { clip } from '../../core/markdown.ts';
import type { Comment, Issue, LinkedIssue } from '../../core/ports/agent.ts';
import { adfToMarkdown } from './adf-to-markdown.ts';
import { mentionsOf } from './mentions.ts';

/** What `Issue` is made of. Without an explicit list the search answers ids alone. */
export const ISSUE_FIELDS: readonly string[] = [
  'summary',
  'description',
  'status',
  'issuetype',
  'priority',
  'assignee',
  'reporter',
  'duedate',
  'created',
  'updated',
  'labels',
  'parent',
  'subtasks',
  'issuelinks',
];

const MAX_LINKED = 200;
const MAX_LABELS = 50;
const TEXT_CHARS = 500;

const line = z.string().transform((value) => clip(value.replace(/\s+/g, ' ').trim(), TEXT_CHARS));
const name = z.object({ name: line }).transform((value) => value.name);
const person = z.object({ displayName: line }).transform((value) => value.displayName);
const date = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);
/** Jira writes the offset without a colon, which is no ISO 8601 profile that everybody reads. */
const instant = z
  .string()
  .transform((value) => Date.parse(value))
  .refine((ms) => !Number.isNaN(ms))
  .transform((ms) => new Date(ms).toISOString());
const status = z
  .object({
    name: line,
    statusCategory: z
      .object({ key: z.enum(['new', 'indeterminate', 'done']) })
      .optional()
      .catch(undefined),
  })
  .transform((value) => ({ name: value.name, ...(value.statusCategory && { category: value.statusCategory.key }) }));

/** A field of the wrong shape, or one that the user may not see, is absent; it never spoils the others. */
const optional = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);
const list = <T extends z.ZodType>(schema: T, max: number) =>
  z
    .array(z.unknown())
    .catch([])
    .transform((values) =>
      values.slice(0, max).flatMap((value): z.output<T>[] => {
        const parsed = schema.safeParse(value);
        return parsed.success ? [parsed.data] : [];
      }),
    );

const id = z.string().regex(/^\d{1,19}$/);
const key = z.string().regex(/^[A-Z][A-Z0-9_]{1,254}-\d{1,19}$/);

const linked = z.object({ id, key, fields: z.object({ summary: line.catch(''), status: optional(status) }) }).transform(
  ({ id, key, fields }): LinkedIssue => ({
    id,
    key,
    summary: fields.summary,
    ...(fields.status && { status: fields.status }),
  }),
);

const link = z
  .object({
    type: z.object({ inward: line, outward: line }),
    inwardIssue: optional(linked),
    outwardIssue: optional(linked),
  })
  .transform(({ type, inwardIssue, outwardIssue }, context) => {
    if (inwardIssue) return { ...inwardIssue, relation: type.inward };
    if (outwardIssue) return { ...outwardIssue, relation: type.outward };
    context.addIssue({ code: 'custom', message: 'links to nothing' });
    return z.NEVER;
  });

const issue = z.object({
  id,
  key,
  fields: z.object({
    summary: line.catch(''),
    description: z.unknown().optional(),
    status: optional(status),
    issuetype: optional(name),
    priority: optional(name),
    assignee: optional(person),
    reporter: optional(person),
    duedate: optional(date),
    created: optional(instant),
    updated: optional(instant),
    labels: list(line, MAX_LABELS),
    parent: optional(linked),
    subtasks: list(linked, MAX_LINKED),
    issuelinks: list(link, MAX_LINKED),
  }),
});

const comment = z
  .object({ id: z.string(), author: optional(person), body: z.unknown().optional(), created: instant })
  .transform((value): Comment => {
    const mentions = mentionsOf(value.body);
    return {
      id: value.id,
      author: value.author ?? 'Somebody',
      body: adfToMarkdown(value.body),
      created: value.created,
      ...(mentions.length > 0 && { mentions }),
    };
  });

/** Undefined when it is no work item. */
export function readIssue(value: unknown): Issue | undefined {
  const parsed = issue.safeParse(value);
  if (!parsed.success) return undefined;
  const { fields } = parsed.data;
  const description = adfToMarkdown(fields.description);
  return {
    id: parsed.data.id,
    key: parsed.data.key,
    summary: fields.summary,
    ...(description !== '' && { description }),
    ...(fields.status && { status: fields.status }),
    ...(fields.issuetype && { type: fields.issuetype }),
    ...(fields.priority && { priority: fields.priority }),
    ...(fields.assignee && { assignee: fields.assignee }),
    ...(fields.reporter && { reporter: fields.reporter }),
    ...(fields.duedate && { due: fields.duedate }),
    ...(fields.created && { created: fields.created }),
    ...(fields.updated && { updated: fields.updated }),
    labels: fields.labels,
    ...(fields.parent && { parent: fields.parent }),
    subtasks: fields.subtasks,
    links: fields.issuelinks,
  };
}

const commentPage = z.object({ comments: z.array(z.unknown()), total: z.number().int().nonnegative() });
const searchPage = z.object({ issues: z.array(z.unknown()), nextPageToken: z.string().min(1).max(2_000).optional() });

interface CommentPage {
  readonly comments: readonly Comment[];
  /** Comments on the page, readable or not. */
  readonly size: number;
  readonly total: number;
}

export function readCommentPage(value: unknown): CommentPage | undefined {
  const parsed = commentPage.safeParse(value);
  if (!parsed.success) return undefined;
  const { comments, total } = parsed.data;
  return { comments: list(comment, comments.length).parse(comments), size: comments.length, total };
}

export function readSearchPage(
  value: unknown,
): { readonly issues: readonly Issue[]; readonly nextPageToken?: string } | undefined {
  const parsed = searchPage.safeParse(value);
  if (!parsed.success) return undefined;
  const issues = parsed.data.issues.flatMap((one) => readIssue(one) ?? []);
  return { issues, ...(parsed.data.nextPageToken !== undefined && { nextPageToken: parsed.data.nextPageToken }) };
}
