import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../core/limits.ts';
import { ConfigError, loadConfig } from '../../src/config.ts';

const EDGE = { A2A_AUTH: 'anonymous' };
const JIRA = { FORGE_APP_ID: '00000000-0000-4000-8000-000000000001' };

test('limits: each setting is the bound of its name', () => {
  const { limits, agent } = loadConfig({
    ...EDGE,
    MAX_CONNECTIONS: '1',
    MAX_REQUESTS: '2',
    MAX_REQUESTS_PER_PRINCIPAL: '3',
    MAX_STREAMS: '4',
    MAX_STREAMS_PER_PRINCIPAL: '5',
    MAX_BODIES_BYTES: '6000',
    MAX_ANSWERS_BYTES: '70000',
    MAX_QUEUED: '7',
    MAX_QUEUED_PER_TENANT: '8',
    AGENT_CONCURRENCY_PER_TENANT: '9',
  });
  assert.deepEqual(limits, {
    ...{ connections: 1, requests: 2, requestsPerPrincipal: 3, streams: 4, streamsPerPrincipal: 5 },
    ...{ bodiesBytes: 6_000, answersBytes: 70_000, queued: 7, queuedPerTenant: 8 },
  });
  assert.equal(agent.concurrencyPerTenant, 9);
});

test('limits: those of the queue are core’s own unless they are set', () => {
  const { limits } = loadConfig(JIRA);
  assert.deepEqual([limits.queued, limits.queuedPerTenant], [LIMITS.queueMax, LIMITS.queueMaxPerTenant]);
});

test('limits: where everybody is the same caller, one may have what all may have, unless it is said otherwise', () => {
  const shares = (env: Record<string, string>) => {
    const { requestsPerPrincipal, streamsPerPrincipal, queuedPerTenant } = loadConfig(env).limits;
    return [requestsPerPrincipal, streamsPerPrincipal, queuedPerTenant];
  };
  assert.deepEqual(shares(JIRA), [500, 1_000, LIMITS.queueMaxPerTenant]);
  const { requests, streams, queued } = loadConfig(EDGE).limits;
  assert.deepEqual(shares(EDGE), [requests, streams, queued]);
  assert.deepEqual(shares({ ...EDGE, MAX_STREAMS: '7' }), [requests, 7, queued]);
  assert.deepEqual(shares({ ...EDGE, MAX_STREAMS_PER_PRINCIPAL: '3' }), [requests, 3, queued]);
});

test('limits: one slot in eight is kept for other tenants, where there are others', () => {
  const share = (env: Record<string, string>) => loadConfig(env).agent.concurrencyPerTenant;
  assert.equal(share(JIRA), 14);
  assert.equal(share({ ...JIRA, AGENT_CONCURRENCY: '8' }), 7);
  assert.equal(share({ ...JIRA, AGENT_CONCURRENCY: '7' }), undefined);
  assert.equal(share({ ...JIRA, AGENT_CONCURRENCY_PER_TENANT: '16' }), 16);
  assert.equal(share(EDGE), undefined);
});

test('limits: none may be nothing', () => {
  for (const key of ['MAX_CONNECTIONS', 'MAX_REQUESTS', 'MAX_STREAMS', 'MAX_QUEUED', 'AGENT_CONCURRENCY_PER_TENANT']) {
    assert.throws(
      () => loadConfig({ ...EDGE, [key]: '0' }),
      (error) => error instanceof ConfigError && error.problems.some((problem) => problem.key === key),
    );
  }
});
