import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createBudget } from '../../adapters/jira/budget.ts';
import { createJira } from '../../adapters/jira/jira.ts';
import type { JiraOptions } from '../../adapters/jira/reader.ts';
import { isDomainError } from '../../core/errors.ts';
import type { LogFields } from '../../core/ports/telemetry.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';
import { createSkippingClock, type SkippingClock } from './skipping-clock.ts';

const NOW = Date.parse('2026-11-20T10:00:00Z');
const LIMIT_MS = 90_000;
const ISSUE = { id: '10001', key: 'SHOP-1', fields: { summary: 'Discount' } };
const found = (body: unknown = ISSUE) => ({ status: 200, body });

const jiraError = (reason: string) => (error: unknown) => {
  assert.ok(error instanceof Error);
  assert.equal(error.name, 'JiraError');
  assert.equal((error as Error & { reason?: string }).reason, reason);
  return true;
};
const needsToken = (tokenHash: string) => (error: unknown) => {
  assert.ok(isDomainError(error, 'USER_TOKEN_REQUIRED'));
  assert.equal(error.tokenHash, tokenHash);
  assert.equal(error.message, 'Authorize the app: [open](https://x.example)');
  return true;
};

describe('createJira', () => {
  let server: ScriptedServer;
  let clock: SkippingClock;
  let stop: AbortController;
  let logged: [string, LogFields | undefined][];
  before(async () => {
    server = await startScriptedServer();
  });
  after(() => server.close());
  beforeEach(() => {
    clock = createSkippingClock(NOW, LIMIT_MS);
    stop = new AbortController();
    logged = [];
  });

  const jira = (options: Partial<JiraOptions> = {}) =>
    createJira({
      apiBaseUrl: `${server.origin}/ex/jira/cloud-1`,
      allowedHosts: ['127.0.0.1'],
      token: async () => ({ token: 'secret-1', hash: 'hash-1' }),
      explainAuthorization: () => 'Authorize the app: [open](https://x.example)',
      clock,
      telemetry: {
        ...silentTelemetry,
        event: (_level, name, fields) => logged.push([name, fields]),
      },
      signal: stop.signal,
      timeoutMs: LIMIT_MS,
      random: () => 0,
      ...options,
    });

  it('asks below the tenant base, with the user token and named fields', async () => {
    server.play(found());
    assert.deepEqual(await jira().issue('SHOP-1', ['summary', 'duedate']), {
      id: '10001',
      key: 'SHOP-1',
      summary: 'Discount',
      labels: [],
      subtasks: [],
      links: [],
    });
    assert.deepEqual(server.asked, ['GET /ex/jira/cloud-1/rest/api/3/issue/SHOP-1?fields=summary%2Cduedate']);
    assert.deepEqual(server.tokens, ['Bearer secret-1']);
  });

  it('an id that is none never leaves the process', async () => {
    server.play(found());
    const ids = [
      'SHOP-1/../../x',
      'SHOP-1%2F..%2Fx',
      'SHOP-1\r\nX: y',
      'SHOP-1\n',
      '..',
      '%2e%2e',
      '',
      ' ',
      'shop-1',
      'SHOP-',
      '1'.repeat(20),
      'SHOP-1?x=1',
      'SHOP-1#x',
      '10001/comment',
      '../../../oauth',
      'SHOP\\-1',
      'undefined',
      '１',
    ];
    for (const id of ids) {
      await assert.rejects(jira().issue(id), jiraError('invalid'), id);
      await assert.rejects(jira().comments(id), jiraError('invalid'), id);
    }
    await assert.rejects(jira().issue(undefined as unknown as string), jiraError('invalid'));
    await assert.rejects(jira().issue('SHOP-1', ['summary&x=1']), jiraError('invalid'));
    await assert.rejects(jira().issue('SHOP-1', ['*all']), jiraError('invalid'));
    await assert.rejects(jira().search('  '), jiraError('invalid'));
    assert.deepEqual(server.asked, []);
  });

  it('the token goes to allowed hosts only, over https unless on loopback', async () => {
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = async (url) => {
      asked.push(String(url));
      return Response.json(ISSUE);
    };
    const reach = (apiBaseUrl: string, ...allowedHosts: string[]) =>
      jira({ fetch, apiBaseUrl, allowedHosts }).issue('SHOP-1', ['summary']);
    for (const [base, ...hosts] of [
      ['https://evil.example/ex/jira/c', 'api.atlassian.com'],
      ['https://api.atlassian.com.evil.example/c', 'api.atlassian.com'],
      ['https://api.atlassian.com:8443/c', 'api.atlassian.com'],
      ['http://api.atlassian.com/c', 'api.atlassian.com'],
      ['https://user:pw@api.atlassian.com/c', 'api.atlassian.com'],
      ['https://api.atlassian.com/c?x=', 'api.atlassian.com'],
      ['http://10.0.0.1/c', '10.0.0.1'],
      ['http://127.0.0.1:81/c', '127.0.0.1:80'],
      ['ftp://127.0.0.1/c', '127.0.0.1'],
      ['not a url', 'api.atlassian.com'],
      ['https://api.atlassian.com/c'],
    ] as const) {
      await assert.rejects(reach(base, ...hosts), jiraError('forbidden'), base);
    }
    assert.deepEqual(asked, []);
    await reach('https://api.atlassian.com/ex/jira/c/', 'api.atlassian.com');
    await reach('http://localhost:81/c', 'localhost');
    assert.deepEqual(asked, [
      'https://api.atlassian.com/ex/jira/c/rest/api/3/issue/SHOP-1?fields=summary',
      'http://localhost:81/c/rest/api/3/issue/SHOP-1?fields=summary',
    ]);
  });

  it('another work item than the one asked for is not found', async () => {
    server.play(found({ ...ISSUE, id: '10002', key: 'SHOP-2' }));
    await assert.rejects(jira().issue('SHOP-1'), jiraError('not-found'));
    await assert.rejects(jira().issue('10001'), jiraError('not-found'));
    assert.equal((await jira().issue('10002')).key, 'SHOP-2');
  });

  for (const [status, reason] of [
    [400, 'invalid'],
    [403, 'forbidden'],
    [404, 'not-found'],
    [410, 'invalid'],
    [500, 'unavailable'],
  ] as const) {
    it(`${status} is ${reason} at once, in fixed words`, async () => {
      server.play({ status, body: { errorMessages: ['inner secret'] } });
      await assert.rejects(
        jira().issue('SHOP-1'),
        (error: Error) => jiraError(reason)(error) && !error.message.includes('inner'),
      );
      assert.equal(server.asked.length, 1);
    });
  }

  it('a missing and a forbidden work item read the same', async () => {
    server.play({ status: 404 });
    await assert.rejects(jira().issue('SHOP-1'), /does not exist, or you have no permission/);
  });

  it('redirects are not followed', async () => {
    server.play({ status: 302, headers: { location: `${server.origin}/elsewhere` } }, found());
    await assert.rejects(jira().issue('SHOP-1'), jiraError('invalid'));
    assert.equal(server.asked.length, 1);
  });

  it('an answer that is too large, no JSON or of another shape is invalid', async () => {
    server.play(found({ ...ISSUE, padding: 'x'.repeat(5_000) }));
    await assert.rejects(jira({ maxBytes: 4_000 }).issue('SHOP-1'), jiraError('invalid'));
    server.play((_request, response) => response.end('<html>'));
    await assert.rejects(jira().issue('SHOP-1'), jiraError('invalid'));
    for (const body of [null, [], 'x', { id: 10001, key: 'SHOP-1' }, { id: '10001', fields: {} }]) {
      server.play((_request, response) => response.end(JSON.stringify(body)));
      await assert.rejects(jira().issue('SHOP-1'), jiraError('invalid'));
    }
  });

  describe('the user token', () => {
    it('none at all asks for authorization without a call', async () => {
      server.play(found());
      await assert.rejects(jira({ token: async () => undefined }).issue('SHOP-1'), needsToken(''));
      assert.deepEqual(server.asked, []);
    });

    it('a refused one is replaced by a fresher one, once', async () => {
      const tokens = [
        { token: 'old', hash: 'h-old' },
        { token: 'new', hash: 'h-new' },
        { token: 'newer', hash: 'h-newer' },
      ];
      const token = async () => tokens.shift();
      server.play({ status: 401 }, found());
      assert.equal((await jira({ token }).issue('SHOP-1')).key, 'SHOP-1');
      assert.deepEqual(server.tokens, ['Bearer old', 'Bearer new']);
      tokens.unshift({ token: 'old', hash: 'h-old' }, { token: 'new', hash: 'h-new' });
      server.play({ status: 401 });
      await assert.rejects(jira({ token }).issue('SHOP-1'), needsToken('h-new'));
      assert.equal(server.asked.length, 2);
    });

    it('one that came while the call waited, for its turn or for Jira, is the one that is used', async () => {
      const began = clock.now();
      const token = async () =>
        clock.now() > began ? { token: 'new', hash: 'h-new' } : { token: 'old', hash: 'h-old' };
      server.play({ status: 429, headers: { 'retry-after': '1' } }, found());
      await jira({ token }).issue('SHOP-1');
      assert.deepEqual(server.tokens, ['Bearer old', 'Bearer new']);

      const budget = createBudget({ clock, burst: 0, perSecond: 1 });
      const later = clock.now();
      const renewed = async () =>
        clock.now() > later ? { token: 'newer', hash: 'h-3' } : { token: 'new', hash: 'h-new' };
      server.play(found());
      await jira({ token: renewed, budget }).issue('SHOP-1');
      assert.deepEqual(server.tokens.slice(-1), ['Bearer newer']);
    });

    it('the same one is not tried again', async () => {
      server.play({ status: 401 });
      await assert.rejects(jira().issue('SHOP-1'), needsToken('hash-1'));
      assert.equal(server.asked.length, 1);
    });

    it('one that no header can carry is refused without showing it', async () => {
      const token = async () => ({ token: 'se\r\ncret', hash: 'h' });
      await assert.rejects(jira({ token }).issue('SHOP-1'), needsToken('h'));
    });

    it('is in no error and no log', async () => {
      const texts: string[] = [];
      for (const status of [401, 403, 404, 429, 500]) {
        server.play({ status, body: { echo: 'secret-1' } });
        await jira()
          .issue('SHOP-1')
          .catch((error: Error) => texts.push(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`));
      }
      await jira({ apiBaseUrl: 'http://127.0.0.1:1/c' })
        .issue('SHOP-1')
        .catch((error: Error) => texts.push(`${error.stack} ${String(error.cause)}`));
      assert.equal(texts.length, 6);
      assert.ok(logged.length >= 6);
      assert.doesNotMatch(texts.join() + JSON.stringify(logged), /secret-1/);
    });
  });

  describe('a busy Jira', () => {
    it('429 waits as long as Retry-After says', async () => {
      server.play({ status: 429, headers: { 'retry-after': '7' } }, found());
      await jira().issue('SHOP-1');
      assert.deepEqual(clock.pauses, [7_000]);
    });

    it('503 with a date waits until then, and the jitter only adds', async () => {
      server.play({ status: 503, headers: { 'retry-after': new Date(NOW + 9_000).toUTCString() } }, found());
      await jira({ random: () => 0.5 }).issue('SHOP-1');
      assert.deepEqual(clock.pauses, [9_000 + 0.5 * (250 + 2_250)]);
    });

    it('X-RateLimit-Reset counts when there is no Retry-After', async () => {
      for (const reset of ['2026-11-20T10:00:11Z', String(NOW / 1_000 + 11), String(NOW + 11_000), '11']) {
        clock = createSkippingClock(NOW, LIMIT_MS);
        server.play({ status: 429, headers: { 'x-ratelimit-reset': reset } }, found());
        await jira().issue('SHOP-1');
        assert.deepEqual(clock.pauses, [11_000], reset);
      }
    });

    it('without a hint the wait doubles and ends after four calls', async () => {
      server.play({ status: 429 });
      await assert.rejects(jira().issue('SHOP-1'), jiraError('rate-limited'));
      assert.deepEqual(clock.pauses, [500, 1_000, 2_000]);
      assert.equal(server.asked.length, 4);
      server.play({ status: 503 });
      await assert.rejects(jira().issue('SHOP-1'), jiraError('unavailable'));
    });

    it('a wait that would pass the deadline is not begun', async () => {
      server.play({ status: 429, headers: { 'retry-after': '110' } });
      await assert.rejects(jira({ deadlineAt: NOW + 100_000 }).issue('SHOP-1'), jiraError('rate-limited'));
      assert.deepEqual(clock.pauses, []);
      await assert.rejects(jira({ deadlineAt: NOW }).issue('SHOP-1'), jiraError('unavailable'));
      assert.equal(server.asked.length, 1);
    });

    it('an absurd Retry-After is not waited for', async () => {
      server.play({ status: 429, headers: { 'retry-after': '86400' } });
      await assert.rejects(jira().issue('SHOP-1'), jiraError('rate-limited'));
      assert.deepEqual(clock.pauses, []);
    });

    it('a broken connection is tried again', async () => {
      server.play((request) => request.socket.destroy(), found());
      assert.equal((await jira().issue('SHOP-1')).key, 'SHOP-1');
      assert.equal(server.asked.length, 2);
    });

    it('a call that never ends is given up, its socket closed', async () => {
      const closed = new Promise<void>((resolve) => {
        server.play(
          (request) => {
            request.socket.once('close', () => resolve());
            clock.expire();
          },
          { status: 404 },
        );
      });
      await assert.rejects(jira().issue('SHOP-1'), jiraError('not-found'));
      await closed;
      assert.equal(server.asked.length, 2);
    });

    it('the signal ends a call and a wait with its own reason', async () => {
      const reason = new Error('task canceled');
      server.play(() => stop.abort(reason));
      await assert.rejects(jira().issue('SHOP-1'), reason);
      await assert.rejects(jira().comments('SHOP-1'), reason);
      assert.equal(server.asked.length, 1);
    });
  });

  it('tenants spend their budget across tasks, and wait or give up when it is gone', async () => {
    server.play(found());
    const budget = createBudget({ clock, burst: 2, perSecond: 1 });
    const [one, other] = [jira({ budget }), jira({ budget })];
    await one.issue('SHOP-1');
    await other.issue('SHOP-1');
    assert.deepEqual(clock.pauses, []);
    await one.issue('SHOP-1');
    assert.deepEqual(clock.pauses, [1_000]);
    await assert.rejects(jira({ budget, deadlineAt: clock.now() + 500 }).issue('SHOP-1'), jiraError('rate-limited'));
    assert.equal(server.asked.length, 3);
  });
});
