import type { Comment, Issue, Jira } from '../../core/ports/agent.ts';
import { type ApiPath, commentsPath, isIssueId, issuePath, searchPath } from './api-url.ts';
import { ISSUE_FIELDS, readCommentPage, readIssue, readSearchPage } from './issue.ts';
import { JiraError } from './jira-error.ts';
import { createReader, type JiraOptions } from './reader.ts';

const PAGE = 100;
const MAX_PAGES = 10;
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;

const limitOf = (limit: number | undefined): number =>
  Math.max(1, Math.min(MAX_LIMIT, Math.trunc(limit ?? DEFAULT_LIMIT) || DEFAULT_LIMIT));

/**
 * Jira Cloud's REST v3 as the invoking user, read only. Bounded in every direction: ids and URLs are checked before a
 * token is sent anywhere, answers are limited in size, lists in pages (`limit` is 50 by default, at most 500), waits by
 * the task's deadline and signal. See JiraOptions; rejections are those of the Jira port.
 */
export function createJira(options: JiraOptions): Jira {
  const read = createReader(options);
  const parsed = async <T>(
    call: string,
    path: ApiPath | undefined,
    parse: (body: unknown) => T | undefined,
  ): Promise<T> => {
    const value = parse(await read(call, path));
    if (value === undefined) {
      options.telemetry.event('warn', 'jira.unexpected_shape', { call });
      throw new JiraError('invalid', 'unexpected shape');
    }
    return value;
  };
  /** The summary is part of every Issue. */
  const fieldsOf = (fields: readonly string[] | undefined): readonly string[] =>
    fields === undefined ? ISSUE_FIELDS : [...new Set(['summary', ...fields])];

  return {
    async issue(id, fields) {
      const found = await parsed('issue', issuePath(id, fieldsOf(fields)), readIssue);
      // Jira answers a moved item under its old key, with another id and key. Whoever asked did not mean that one.
      if ((isIssueId(id) ? found.id : found.key) !== id) {
        options.telemetry.event('warn', 'jira.other_issue', { call: 'issue' });
        throw new JiraError('not-found', 'another work item came back');
      }
      return found;
    },

    async comments(id, { limit } = {}) {
      const wanted = limitOf(limit);
      // Keyed by id: a comment written meanwhile moves the others on to the next page.
      const found = new Map<string, Comment>();
      let startAt = 0;
      for (let page = 0; page < MAX_PAGES && found.size < wanted; page += 1) {
        const size = Math.min(PAGE, wanted - found.size);
        const got = await parsed('comments', commentsPath(id, startAt, size), readCommentPage);
        for (const comment of got.comments) found.set(comment.id, comment);
        startAt += got.size;
        if (got.size === 0 || startAt >= got.total) break;
      }
      return [...found.values()].slice(0, wanted);
    },

    async search(jql, { limit, fields } = {}) {
      const wanted = limitOf(limit);
      const found = new Map<string, Issue>();
      let nextPageToken: string | undefined;
      for (let page = 0; page < MAX_PAGES && found.size < wanted; page += 1) {
        const size = Math.min(PAGE, wanted - found.size);
        const request = {
          fields: fieldsOf(fields),
          maxResults: size,
          ...(nextPageToken !== undefined && { nextPageToken }),
        };
        const got = await parsed('search', searchPath(jql, request), readSearchPage);
        for (const issue of got.issues) found.set(issue.id, issue);
        if (got.nextPageToken === undefined || got.nextPageToken === nextPageToken) break;
        nextPageToken = got.nextPageToken;
      }
      return [...found.values()].slice(0, wanted);
    },
  };
}
