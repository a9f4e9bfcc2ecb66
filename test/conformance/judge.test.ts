import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Judging, judge, type KnownFailure, type SuiteResult } from './judge.ts';
import { KNOWN_FAILURES } from './known-failures.ts';
import { BINDINGS, CALLERS, offerOf, type Run, SET_UPS } from './set-ups.ts';

/* The gate is shown results of each kind that it has to stop, one at a time. */

const RUN: Run = { binding: 'jsonrpc', setUp: 'everything', callers: 'anonymous' };
const CONTRADICTED: KnownFailure = {
  requirement: 'CORE-SEND-003',
  test: 'test_must_requirement',
  bindings: ['jsonrpc'],
  setUps: ['everything'],
  happens: 'failed',
  cause: 'planted',
};

function result(requirement: string, outcome: SuiteResult['outcome'], changes: Partial<SuiteResult> = {}): SuiteResult {
  const test = `tests/test_requirements.py::test_must_requirement[${requirement}-jsonrpc]`;
  return { test, requirement, outcome, reason: outcome === 'passed' ? '' : 'planted', ...changes };
}

const SOUND: readonly SuiteResult[] = [
  result('CORE-SEND-001', 'passed'),
  result('CORE-SEND-003', 'failed'),
  result('CORE-CAP-002', 'skipped', { reason: 'Agent supports streaming' }),
];

function judged(results: readonly SuiteResult[], changes: Partial<Judging> = {}) {
  return judge(results, { run: RUN, offer: offerOf(RUN), known: [CONTRADICTED], tests: results.length, ...changes });
}

function refuses(results: readonly SuiteResult[], fault: RegExp, changes: Partial<Judging> = {}) {
  const { faults } = judged(results, changes);
  assert.equal(faults.length, 1, faults.join('\n'));
  assert.match(faults[0] ?? '', fault);
}

describe('conformance gate', () => {
  test('conformance gate: a run with its known failures and true skips passes, and is counted', () => {
    const verdict = judged(SOUND);
    assert.deepEqual(verdict, { passed: 1, failed: 1, skipped: 1, faults: [] });
  });

  test('conformance gate: a failure that is not listed fails it, by name and reason', () => {
    refuses([...SOUND, result('CORE-GET-001', 'failed')], /^failed: CORE-GET-001 .*planted$/);
  });

  test('conformance gate: a requirement that is listed for one test does not excuse another test of it', () => {
    const other = result('CORE-SEND-003', 'failed', { test: 'tests/test_more.py::TestMore::test_other' });
    refuses([...SOUND, other], /^failed: CORE-SEND-003 .*test_other/);
  });

  test('conformance gate: a SHOULD that is not met fails it, although the suite lets it pass', () => {
    refuses([...SOUND, result('CARD-CACHE-001', 'unmet')], /^unmet: CARD-CACHE-001/);
    assert.equal(judged([...SOUND, result('CARD-CACHE-001', 'unmet')]).failed, 2);
  });

  test('conformance gate: a listed failure that passes fails it', () => {
    const mended = SOUND.map((each) =>
      each.requirement === 'CORE-SEND-003' ? { ...each, outcome: 'passed' as const } : each,
    );
    refuses(mended, /CORE-SEND-003 .*but passed: take it off the list/);
  });

  test('conformance gate: a listed failure that happens otherwise than listed fails it', () => {
    const otherwise = SOUND.map((each) =>
      each.requirement === 'CORE-SEND-003' ? { ...each, outcome: 'unmet' as const } : each,
    );
    const { faults } = judged(otherwise);
    assert.match(faults.join('\n'), /^unmet: CORE-SEND-003.*\n.*listed as failed, but unmet/);
  });

  test('conformance gate: a listed failure whose test did not run fails it', () => {
    refuses(
      SOUND.filter(({ requirement }) => requirement !== 'CORE-SEND-003'),
      /CORE-SEND-003 .*but did not run/,
    );
  });

  test('conformance gate: a failure that is listed for another binding, set-up or caller is not excused', () => {
    const rows: readonly KnownFailure[] = [
      { ...CONTRADICTED, bindings: ['http_json'] },
      { ...CONTRADICTED, setUps: ['little'] },
      { ...CONTRADICTED, callers: ['bearer'] },
    ];
    for (const row of rows) refuses(SOUND, /^failed: CORE-SEND-003/, { known: [row] });
  });

  for (const reason of [
    'send_message failed: [500] boom',
    'Server returned no SSE events',
    "Transport 'jsonrpc' not configured",
    'Agent does not support streaming',
    "Agent card does not declare capabilities for: ['streaming']",
    "Agent card does not declare capabilities for: ['agent-card', 'push-notification']",
    "Agent card does not declare capabilities for: ['something new']",
    'Agent supports extended agent card',
    '',
  ]) {
    test(`conformance gate: a skip that the set-up does not explain fails it: ${reason || 'no reason'}`, () => {
      const results = [...SOUND, result('CORE-GET-001', 'skipped', { reason })];
      refuses(results, /^hollow: CORE-GET-001/);
      assert.equal(judged(results).skipped, 2);
    });
  }

  test('conformance gate: a hollow skip passes where it is listed as one, and only there', () => {
    const hollow = result('JSONRPC-SSE-001', 'skipped', { reason: 'Streaming not supported: no' });
    const row: KnownFailure = { ...CONTRADICTED, requirement: 'JSONRPC-SSE-001', happens: 'hollow' };
    assert.deepEqual(judged([...SOUND, hollow], { known: [CONTRADICTED, row] }).faults, []);
    const asFailure: KnownFailure = { ...row, happens: 'failed' };
    assert.equal(judged([...SOUND, hollow], { known: [CONTRADICTED, asFailure] }).faults.length, 2);
  });

  test('conformance gate: what the set-up lacks explains a skip', () => {
    const run: Run = { ...RUN, setUp: 'little' };
    const reasons = [
      'Agent does not support streaming',
      'Agent does not support push notifications',
      "Agent card does not declare capabilities for: ['streaming', 'push-notification', 'agent-card']",
      'Agent card does not declare urn:a2a:tck:required-extension as required',
    ];
    const skips = reasons.map((reason, at) => result(`CORE-CAP-00${at}`, 'skipped', { reason }));
    const passed = result('CORE-SEND-001', 'passed');
    assert.deepEqual(judged([passed, ...skips], { run, offer: offerOf(run), known: [] }).faults, []);
  });

  test('conformance gate: no test at all fails it', () => {
    refuses([], /^no test ran$/, { known: [], tests: 106 });
    const { tests: _, ...unknown } = { run: RUN, offer: offerOf(RUN), known: [], tests: 0 };
    assert.deepEqual(judge([], unknown).faults, ['no test ran']);
  });

  test('conformance gate: tests that were lost on the way fail it', () => {
    refuses(SOUND, /^3 tests ran, not 106$/, { tests: 106 });
  });

  test('conformance gate: a run that only skips fails it', () => {
    refuses([result('CORE-CAP-002', 'skipped', { reason: 'Agent supports streaming' })], /^no test passed$/, {
      known: [],
    });
  });

  test('conformance gate: a test that passes and cannot tidy up counts once, as failed', () => {
    const twice = [...SOUND, result('CORE-GET-001', 'passed'), result('CORE-GET-001', 'failed')];
    refuses(twice, /^failed: CORE-GET-001/, { tests: 4 });
    assert.equal(judged(twice).passed, 1);
  });
});

describe('known failures', () => {
  test('known failures: each has a cause and concerns a run that is made', () => {
    for (const { requirement, cause, bindings, setUps } of KNOWN_FAILURES) {
      assert.ok(cause.length > 60 && cause.endsWith('.'), requirement);
      assert.ok(bindings.length > 0 && setUps.length > 0, requirement);
      assert.ok(bindings.every((name) => name in BINDINGS) && setUps.every((name) => name in SET_UPS), requirement);
    }
    assert.deepEqual(Object.keys(CALLERS), ['anonymous', 'bearer']);
  });

  test('known failures: none is listed twice', () => {
    const keys = KNOWN_FAILURES.flatMap(({ requirement, test, bindings, setUps }) =>
      bindings.flatMap((binding) => setUps.map((setUp) => `${requirement} ${test} ${binding} ${setUp}`)),
    );
    assert.deepEqual(keys, [...new Set(keys)]);
  });
});
