import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Atlassian, startAtlassian } from '../../simulator/atlassian.ts';
import { CHECKS } from '../../simulator/checks/list.ts';
import { hasFailed, runChecks } from '../../simulator/checks/run-checks.ts';
import { formatTable } from '../../simulator/checks/table.ts';
import { type IdleAgent, startIdleAgent } from './idle-agents.ts';
import type { Flaw } from './reference-agent/flaws.ts';
import { startReferenceAgent } from './reference-agent/server.ts';

/** 900 s and 55 s both become a second, the shortest that a scaled deadline gets. */
const TIME_SCALE = 900;
const HEARTBEAT_MS = 600;

/** Each flaw of the reference agent and the rules that must turn red with it. */
const EXPECTED: Readonly<Record<Flaw, readonly string[]>> = {
  'audience-from-token': ['token.audience'],
  'any-algorithm': ['token.es256'],
  'any-iat': ['token.future'],
  'trusts-unsigned': [
    'token.alg-none',
    'token.hs256',
    'token.es256',
    'token.signature',
    'token.expired',
    'token.issuer',
  ],
  'fetches-for-every-kid': ['keys.random'],
  'http-status-errors': ['envelope.id', 'envelope.method', 'envelope.parse'],
  'redirects-slash': ['envelope.redirect'],
  'kind-field': ['task.strict', 'stream.order'],
  'runs-every-send': ['task.retry'],
  'placeholder-is-an-id': ['task.placeholder'],
  'shared-tasks': ['owner.user', 'owner.site'],
  'waits-for-ever': ['task.sync-limit'],
  'never-gives-up': ['deadline.item', 'deadline.chat'],
  'long-lines': ['stream.line-limit'],
  'raw-separators': ['stream.separators'],
  'silent-streams': ['stream.heartbeat'],
  'status-before-task': ['stream.order'],
  'resumes-without-snapshot': ['resume.cut', 'resume.finished'],
  'refuses-finished-subscribe': ['resume.finished'],
  'dies-with-its-stream': ['stream.left'],
  'fails-without-token': ['user.missing', 'user.expired', 'user.refused'],
  'forgets-removal': ['lifecycle.removed'],
  'follow-up-in-new-context': ['task.follow-up'],
};

const IDLE_MANNERS = [
  'envelope.id',
  'envelope.redirect',
  'resume.unknown',
  // Events that need no more than an answer. What they are for is in lifecycle.removed.
  'lifecycle.installed',
  'lifecycle.upgraded',
];

/**
 * All that an agent may be praised for without doing anything: what its answers look like, and that it does not know
 * what nobody knows.
 */
const IDLE_MAY_PASS: Readonly<Record<IdleAgent, readonly string[]>> = {
  unknown: IDLE_MANNERS,
  failed: IDLE_MANNERS,
};

async function check(
  atlassian: Atlassian,
  flaws: readonly Flaw[],
  which: { readonly only?: readonly string[]; readonly quick?: boolean } = {},
) {
  const agent = await startReferenceAgent({
    appAri: atlassian.app.ari,
    jwksUrl: atlassian.jwksUrl,
    apiHosts: [new URL(atlassian.apiBaseUrl).host],
    cooldownMs: 1_000,
    waitMs: 400,
    streamMs: 800,
    deadlineMs: { chat: 1_700, item: 3_600 },
    heartbeatMs: HEARTBEAT_MS / 5,
    flaws: new Set(flaws),
  });
  try {
    return await runChecks({ atlassian, url: agent.url, heartbeatMs: HEARTBEAT_MS, ...which });
  } finally {
    await agent.close();
  }
}

describe('readiness table', () => {
  let atlassian: Atlassian;
  before(async () => {
    atlassian = await startAtlassian({ timeScale: TIME_SCALE });
  });
  after(() => atlassian.close());

  it('passes on an agent that keeps every rule', async () => {
    const rows = await check(atlassian, []);
    const others = rows.filter((row) => row.status !== 'pass');
    assert.deepEqual(others, [], formatTable(rows));
    assert.equal(rows.length, CHECKS.length);
  });

  for (const [timeScale, left] of [
    [1, ['token.valid']],
    [TIME_SCALE, ['token.valid', 'task.sync-limit']],
  ] as const) {
    it(`quick leaves out what takes long at a time scale of ${timeScale}`, async () => {
      const scaled = await startAtlassian({ timeScale });
      const only = ['token.valid', 'task.sync-limit', 'keys.rotation'];
      const rows = await check(scaled, [], { only, quick: true }).finally(() => scaled.close());
      assert.deepEqual(
        rows.map(({ id, status }) => [id, status]),
        left.map((id) => [id, 'pass']),
        formatTable(rows),
      );
    });
  }

  for (const [kind, mayPass] of Object.entries(IDLE_MAY_PASS)) {
    it(`praises an agent that does nothing (${kind}) for its manners only`, async () => {
      const agent = await startIdleAgent(kind as IdleAgent);
      try {
        const rows = await runChecks({ atlassian, url: agent.url, heartbeatMs: HEARTBEAT_MS });
        const passed = rows.filter((row) => row.status === 'pass').map((row) => row.id);
        assert.deepEqual(passed, mayPass, formatTable(rows));
        assert.equal(rows.length, CHECKS.length);
      } finally {
        await agent.close();
      }
    });
  }

  for (const [flaw, ids] of Object.entries(EXPECTED)) {
    it(`turns red for an agent with the flaw ${flaw}`, async () => {
      const rows = await check(atlassian, [flaw as Flaw], { only: ids });
      assert.deepEqual(
        rows.map((row) => [row.id, row.status]),
        CHECKS.filter((one) => ids.includes(one.id)).map((one) => [one.id, 'fail']),
        formatTable(rows),
      );
      assert.ok(hasFailed(rows));
    });
  }
});
