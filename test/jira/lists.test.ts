import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createJira } from '../../adapters/jira/jira.ts';
import type { Jira } from '../../core/ports/agent.ts';
import { type Atlassian, startAtlassian } from '../../simulator/atlassian.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { type Scripted, type ScriptedServer, startScriptedServer } from './scripted-server.ts';

const clock = { now: Date.now, timer: () => () => {} };
const jiraAt = (apiBaseUrl: string, token = 't'): Jira =>
  createJira({
    apiBaseUrl,
    allowedHosts: ['127.0.0.1'],
    token: async () => ({ token, hash: 'h' }),
    explainAuthorization: () => 'authorize',
    clock,
    telemetry: silentTelemetry,
    signal: new AbortController().signal,
  });

describe('lists of Jira', () => {
  let server: ScriptedServer;
  before(async () => {
    server = await startScriptedServer();
  });
  after(() => server.close());

  const comment = (id: number) => ({
    id: String(id),
    author: { displayName: 'A' },
    body: null,
    created: '2026-11-20T09:00:00.000+0000',
  });
  const issue = (id: number) => ({ id: String(id), key: `SHOP-${id}`, fields: { summary: 's' } });
  const page = (body: unknown): Scripted => ({ status: 200, body });
  const ids = (items: readonly { readonly id: string }[]) => items.map(({ id }) => Number(id));

  it('comments are paged newest first until the total is reached', async () => {
    server.play(page({ comments: [comment(3), comment(2)], total: 3 }), page({ comments: [comment(1)], total: 3 }));
    assert.deepEqual(ids(await jiraAt(server.origin).comments('SHOP-1')), [3, 2, 1]);
    assert.deepEqual(server.asked, [
      'GET /rest/api/3/issue/SHOP-1/comment?startAt=0&maxResults=50&orderBy=-created',
      'GET /rest/api/3/issue/SHOP-1/comment?startAt=2&maxResults=48&orderBy=-created',
    ]);
  });

  it('a comment written between two pages doubles nothing', async () => {
    server.play(
      page({ comments: [comment(3), comment(2)], total: 3 }),
      page({ comments: [comment(2), comment(1)], total: 4 }),
    );
    assert.deepEqual(ids(await jiraAt(server.origin).comments('SHOP-1', { limit: 60 })), [3, 2, 1]);
  });

  it('a limit is asked for and kept, even when Jira sends more', async () => {
    server.play(page({ comments: [comment(3), comment(2), comment(1)], total: 3 }));
    assert.deepEqual(ids(await jiraAt(server.origin).comments('SHOP-1', { limit: 2 })), [3, 2]);
    assert.match(server.asked[0] ?? '', /maxResults=2&/);
    for (const [limit, asked] of [
      [-5, 1],
      [0.5, 50],
      [1e9, 100],
      [Number.NaN, 50],
    ] as const) {
      server.play(page({ comments: [], total: 0 }));
      await jiraAt(server.origin).comments('SHOP-1', { limit });
      assert.match(server.asked[0] ?? '', new RegExp(`maxResults=${asked}&`), String(limit));
    }
  });

  it('a site that always has one more page is left after ten', async () => {
    let last = 0;
    const next = () => {
      last += 1;
      return last;
    };
    server.play((_request, response) => response.end(JSON.stringify({ comments: [comment(next())], total: 1e6 })));
    await jiraAt(server.origin).comments('SHOP-1', { limit: 500 });
    assert.equal(server.asked.length, 10);
    server.play((_request, response) =>
      response.end(JSON.stringify({ issues: [issue(next())], nextPageToken: `p${last}` })),
    );
    await jiraAt(server.origin).search('project = SHOP', { limit: 500 });
    assert.equal(server.asked.length, 10);
  });

  it('an empty page and a repeated page token end the list', async () => {
    server.play(page({ comments: [], total: 5 }));
    assert.deepEqual(await jiraAt(server.origin).comments('SHOP-1'), []);
    server.play(page({ issues: [issue(1)], nextPageToken: 'p' }));
    assert.deepEqual(ids(await jiraAt(server.origin).search('project = SHOP')), [1]);
    assert.equal(server.asked.length, 2);
  });

  it('the search names its fields, escapes its query and follows the page token', async () => {
    server.play(page({ issues: [issue(1)], nextPageToken: 'a&b=c' }), page({ issues: [issue(2)] }));
    assert.deepEqual(ids(await jiraAt(server.origin).search('parent = "SHOP-1" & x', { fields: ['status'] })), [1, 2]);
    assert.equal(
      server.asked[0],
      'GET /rest/api/3/search/jql?jql=parent+%3D+%22SHOP-1%22+%26+x&fields=summary%2Cstatus&maxResults=50',
    );
    assert.match(server.asked[1] ?? '', /&nextPageToken=a%26b%3Dc$/);
  });

  it('a row that is no work item or comment is left out', async () => {
    server.play(page({ issues: [null, { id: '1' }, issue(2)] }));
    assert.deepEqual(ids(await jiraAt(server.origin).search('project = SHOP')), [2]);
    server.play(page({ comments: [5, { id: '1' }, comment(2)], total: 3 }));
    assert.deepEqual(ids(await jiraAt(server.origin).comments('SHOP-1')), [2]);
  });
});

describe('createJira on a Jira site', () => {
  let atlassian: Atlassian;
  before(async () => {
    atlassian = await startAtlassian();
  });
  after(() => atlassian.close());
  const as = (person: string) => jiraAt(atlassian.site.apiBaseUrl, atlassian.site.currentToken(person));

  it('a work item has all its parts', async () => {
    const issue = await as('alice').issue('10001');
    assert.equal(issue.key, 'SHOP-1');
    assert.deepEqual(issue.status, { name: 'In Progress', category: 'indeterminate' });
    assert.deepEqual(
      [issue.type, issue.priority, issue.assignee, issue.reporter, issue.due],
      ['Bug', 'High', 'Bob Okafor', 'Alice Moreau', '2026-12-04'],
    );
    assert.equal(issue.updated, '2026-11-20T09:00:00.000Z');
    assert.equal(issue.parent?.key, 'SHOP-5');
    assert.deepEqual(
      issue.subtasks.map(({ key, status }) => [key, status?.category]),
      [
        ['SHOP-2', 'done'],
        ['SHOP-3', 'new'],
      ],
    );
    assert.deepEqual(
      issue.links.map(({ key, relation }) => `${relation} ${key}`),
      ['is blocked by PAY-2', 'relates to SHOP-7', 'blocks SHOP-4'],
    );
    assert.match(issue.description ?? '', /^## Steps\n\n1\. Enter a valid code/);
    assert.match(issue.description ?? '', /Bob Okafor has the trace/);
  });

  it('the invoking user sees what that user may see', async () => {
    assert.deepEqual(
      (await as('bob').issue('SHOP-1')).links.map(({ key }) => key),
      ['SHOP-7', 'SHOP-4'],
    );
    await assert.rejects(as('bob').issue('PAY-1'), { name: 'JiraError', reason: 'not-found' });
    await assert.rejects(as('carol').comments('SHOP-1'), { name: 'JiraError', reason: 'not-found' });
  });

  it('a long discussion comes newest first', async () => {
    const comments = await as('bob').comments('SHOP-6', { limit: 55 });
    assert.equal(comments.length, 55);
    assert.equal(comments[0]?.body, 'Draft 60 of the basket mail is in the folder.');
    assert.ok(comments.every(({ created }, index) => index === 0 || created <= (comments[index - 1]?.created ?? '')));
  });

  it('a token without the scope is forbidden', async () => {
    const token = atlassian.userToken('alice', { scopes: ['read:jira-user'] });
    await assert.rejects(jiraAt(atlassian.site.apiBaseUrl, token).issue('SHOP-1'), {
      name: 'JiraError',
      reason: 'forbidden',
    });
  });
});
