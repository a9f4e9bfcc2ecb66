import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Atlassian, startAtlassian } from '../../simulator/atlassian.ts';
import { at } from './at.ts';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

describe('Jira site', () => {
  let atlassian: Atlassian;
  before(async () => {
    atlassian = await startAtlassian();
  });
  after(() => atlassian.close());

  const get = async (path: string, token: string | undefined, base = atlassian.apiBaseUrl): Promise<Answer> => {
    const headers = { connection: 'close', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    const response = await fetch(`${base}/rest/api/3${path}`, { headers });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const as = (person: string, path: string): Promise<Answer> => get(path, atlassian.userToken(person));
  const search = (person: string, jql: string, more = ''): Promise<Answer> =>
    as(person, `/search/jql?jql=${encodeURIComponent(jql)}&fields=summary${more}`);
  const keys = (answer: Answer): unknown => at(answer.body, 'issues.*.key');

  it('shows a work item by key and id, its text as ADF, only the fields asked for', async () => {
    const { body } = await as('alice', '/issue/SHOP-1?fields=summary,description');
    assert.equal(at(body, 'id'), '10001');
    assert.deepEqual(Object.keys(Object(at(body, 'fields'))), ['summary', 'description']);
    assert.deepEqual([at(body, 'fields.description.type'), at(body, 'fields.description.version')], ['doc', 1]);
    assert.equal(at((await as('alice', '/issue/10001')).body, 'key'), 'SHOP-1');
    assert.equal(at((await as('alice', '/issue/SHOP-4?fields=description')).body, 'fields.description'), null);
  });

  it('shows status, people, parent, subtasks and links as the REST API does', async () => {
    const fields = at((await as('alice', '/issue/SHOP-1')).body, 'fields');
    assert.equal(at(fields, 'status.statusCategory.key'), 'indeterminate');
    assert.deepEqual(
      [at(fields, 'assignee.displayName'), at(fields, 'priority.name'), at(fields, 'duedate')],
      ['Bob Okafor', 'High', '2026-12-04'],
    );
    assert.equal(at(fields, 'parent.key'), 'SHOP-5');
    assert.deepEqual(at(fields, 'subtasks.*.key'), ['SHOP-2', 'SHOP-3']);
    const [inward, key] = ['type.inward', 'inwardIssue.key'].map((path) => at(fields, `issuelinks.0.${path}`));
    assert.deepEqual([inward, key], ['is blocked by', 'PAY-2']);
  });

  it('hides what a person may not browse: missing and forbidden look alike, also in links and searches', async () => {
    const hidden = await as('bob', '/issue/PAY-1');
    const missing = await as('bob', '/issue/PAY-999');
    assert.deepEqual([hidden.status, hidden.body], [404, missing.body]);
    assert.equal((await as('bob', '/issue/PAY-1/comment')).status, 404);
    const links = at((await as('bob', '/issue/SHOP-1')).body, 'fields.issuelinks');
    assert.equal(JSON.stringify(links).includes('PAY'), false);
    assert.deepEqual(keys(await search('bob', 'text ~ "gateway"')), []);
    assert.equal((await as('carol', '/issue/SHOP-1')).status, 404);
    assert.equal(at((await as('carol', '/myself')).body, 'displayName'), 'Carol Lindqvist');
  });

  it('refuses a token that is missing, invented, expired, revoked or of the other site with 401', async () => {
    const revoked = atlassian.userToken('alice');
    atlassian.site.tokens.revoke(revoked);
    const edited = atlassian.userToken('alice').replace(/.$/, '!');
    const tokens = [undefined, 'invented', edited, atlassian.userToken('alice', { ageMs: 5 * 3_600_000 }), revoked];
    for (const token of [...tokens, atlassian.userToken('alice', { site: 'harbor' })]) {
      assert.equal((await get('/issue/SHOP-1', token)).status, 401);
    }
    assert.equal((await get('/issue/SHOP-1', atlassian.userToken('alice', { opaque: true }))).status, 200);
  });

  it('refuses a token without the scope with 403', async () => {
    const token = atlassian.userToken('alice', { scopes: ['read:jira-user'] });
    assert.equal((await get('/issue/SHOP-1', token)).status, 403);
    assert.equal((await get('/myself', token)).status, 200);
  });

  it('pages comments from either end', async () => {
    const page = (await as('alice', '/issue/SHOP-6/comment?startAt=10&maxResults=5')).body;
    assert.deepEqual(
      ['startAt', 'maxResults', 'total', 'comments.length'].map((path) => at(page, path)),
      [10, 5, 60, 5],
    );
    assert.equal(at(page, 'comments.0.id'), '92010');
    const newest = (await as('alice', '/issue/SHOP-6/comment?maxResults=1&orderBy=-created')).body;
    assert.equal(at(newest, 'comments.0.id'), '92059');
  });

  it('searches by parent, project, keys, text and several of them', async () => {
    assert.deepEqual(keys(await search('alice', 'parent = SHOP-1')), ['SHOP-2', 'SHOP-3']);
    assert.deepEqual(keys(await search('alice', 'issue in (SHOP-1, "PAY-1", PAY-999) ORDER BY created DESC')), [
      'SHOP-1',
      'PAY-1',
    ]);
    assert.deepEqual(keys(await search('bob', 'project = SHOP AND text ~ "discount code"')), ['SHOP-1']);
    assert.deepEqual(keys(await search('bob', 'assignee = currentUser() and statusCategory != Done')), [
      'SHOP-1',
      'SHOP-6',
    ]);
    assert.deepEqual(keys(await search('alice', 'key = 10008')), ['PAY-1']);
  });

  it('pages searches by token and shows bare ids without fields', async () => {
    const first = await search('alice', 'project in (SHOP, PAY)', '&maxResults=6');
    assert.equal(at(first.body, 'isLast'), false);
    const second = await search(
      'alice',
      'project in (SHOP, PAY)',
      `&maxResults=6&nextPageToken=${String(at(first.body, 'nextPageToken'))}`,
    );
    assert.deepEqual(
      [at(first.body, 'issues.length'), at(second.body, 'issues.length'), at(second.body, 'isLast')],
      [6, 4, true],
    );
    assert.deepEqual(at((await as('alice', '/search/jql?jql=key%3DSHOP-1')).body, 'issues'), [{ id: '10001' }]);
  });

  it('refuses JQL that it does not understand with 400', async () => {
    for (const jql of ['', 'flavor = sweet', 'project =', 'project SHOP', 'key = A-1 OR key = A-2', 'key in (A-1']) {
      assert.equal((await search('alice', jql)).status, 400, jql);
    }
  });

  it('keeps two sites with the same ids and keys apart', async () => {
    const { harbor } = atlassian.sites;
    const { body } = await get('/issue/10001', harbor.newToken('alice'), harbor.apiBaseUrl);
    assert.equal(at(body, 'fields.summary'), 'Book the dry dock for the Marguerite');
    assert.equal((await get('/issue/PAY-1', harbor.newToken('alice'), harbor.apiBaseUrl)).status, 404);
  });

  it('answers 429 with Retry-After as often as it was told, for one item or for all', async () => {
    const { key, id } = atlassian.site.records.add({ summary: 'Limited' });
    atlassian.site.traffic.rateLimit({ key, times: 1, retryAfterS: 7 });
    assert.equal((await as('alice', '/issue/SHOP-1')).status, 200);
    const limited = await as('alice', `/issue/${id}`);
    assert.deepEqual([limited.status, limited.headers.get('retry-after')], [429, '7']);
    assert.equal((await as('alice', `/issue/${id}`)).status, 200);
  });

  it('holds requests at a gate until it opens', async () => {
    const { key } = atlassian.site.records.add({ summary: 'Gated' });
    const gate = atlassian.site.traffic.gate(key);
    let answered = false;
    const asking = search('alice', `parent = ${key}`).finally(() => {
      answered = true;
    });
    await gate.reached();
    assert.equal((await as('alice', '/issue/SHOP-1')).status, 200);
    assert.equal(answered, false);
    gate.open();
    assert.equal((await asking).status, 200);
  });

  it('delays an item, and holds one back for a while from the first request on', async () => {
    const took = async (key: string): Promise<number> => {
      const startedAt = performance.now();
      await as('alice', `/issue/${key}`);
      return performance.now() - startedAt;
    };
    const { key } = atlassian.site.records.add({ summary: 'Slow' });
    atlassian.site.traffic.latency(key, 80);
    assert.ok((await took(key)) >= 75);
    assert.ok((await took(key)) >= 75);
    const held = atlassian.site.records.add({ summary: 'Held' }).key;
    atlassian.site.traffic.hold(held, 80);
    assert.ok((await took(held)) >= 75);
    assert.ok((await took(held)) < 75);
  });

  it('tells a caller of an item held for long when to come again', async () => {
    const { key } = atlassian.site.records.add({ summary: 'Held for long' });
    const traffic = atlassian.site.traffic;
    traffic.hold(key, 60_000);
    const patience = AbortSignal.timeout(50);
    assert.equal(await traffic.pass([key], patience), 55);
  });

  it('logs who asked what with which token', async () => {
    const token = atlassian.userToken('bob');
    atlassian.site.clearRequests();
    await get('/issue/SHOP-2?fields=summary', token);
    await get('/issue/SHOP-2', undefined);
    const [seen, refused] = atlassian.site.requests();
    assert.deepEqual(
      [seen?.as, seen?.path, seen?.query, seen?.token, seen?.status],
      ['bob', '/rest/api/3/issue/SHOP-2', { fields: 'summary' }, token, 200],
    );
    assert.deepEqual([refused?.as, refused?.status], [undefined, 401]);
  });
});
