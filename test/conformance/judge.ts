import type { BindingName, CallersName, Offer, Run, SetUpName } from './set-ups.ts';
import { skipIsTrue } from './skips.ts';

/*
 * Decides whether a run of the suite is as it has to be. A gate that only counts failures passes when nothing ran, when
 * tests were lost, when the suite gave up before it looked, and when a reason to look away is long gone; each of these
 * is a fault here.
 */

/** What became of one test. `unmet`: a SHOULD or MAY that is not kept, which the suite itself lets pass. */
export interface SuiteResult {
  /** Node id of pytest. */
  readonly test: string;
  readonly requirement: string;
  readonly outcome: 'passed' | 'failed' | 'unmet' | 'skipped';
  readonly reason: string;
}

/** A failure that we know of, where it happens and why. */
export interface KnownFailure {
  readonly requirement: string;
  /** Name of the test's function. */
  readonly test: string;
  readonly bindings: readonly BindingName[];
  readonly setUps: readonly SetUpName[];
  /** By default both. */
  readonly callers?: readonly CallersName[];
  /** `hollow`: the suite skips it although the set-up has what it needs. */
  readonly happens: 'failed' | 'unmet' | 'hollow';
  readonly cause: string;
}

export interface Judging {
  readonly run: Run;
  readonly offer: Offer;
  readonly known: readonly KnownFailure[];
  /** How many tests there have to be; undefined where nobody knows, in another revision of the suite. */
  readonly tests?: number;
}

export interface Verdict {
  readonly passed: number;
  /** With the known ones, and with unmet SHOULDs and MAYs. */
  readonly failed: number;
  /** With hollow ones. */
  readonly skipped: number;
  /** Why the gate fails; empty: it does not. */
  readonly faults: readonly string[];
}

type Happening = 'passed' | 'skipped' | KnownFailure['happens'];

const WORST_FIRST: readonly Happening[] = ['failed', 'unmet', 'hollow', 'skipped', 'passed'];

export function judge(results: readonly SuiteResult[], { run, offer, known, tests }: Judging): Verdict {
  const happened = oncePerTest(results, offer);
  const listed = known.filter((each) => concerns(each, run));
  const bad = happened.filter(({ what }) => what !== 'passed' && what !== 'skipped');
  const unlisted = bad.filter((each) => !listed.some((row) => isOf(row, each) && row.happens === each.what));
  const count = (...kinds: Happening[]) => happened.filter(({ what }) => kinds.includes(what)).length;
  return {
    passed: count('passed'),
    failed: count('failed', 'unmet'),
    skipped: count('skipped', 'hollow'),
    faults: [
      ...unlisted.map((each) => `${each.what}: ${each.requirement} ${each.test}: ${each.reason}`),
      ...listed.flatMap((row) => staleness(row, happened)),
      ...lost(happened.length, tests),
      ...(happened.length > 0 && count('passed') === 0 ? ['no test passed'] : []),
    ],
  };
}

interface Happened {
  readonly test: string;
  readonly requirement: string;
  readonly reason: string;
  readonly what: Happening;
}

/** A test whose tidying up fails is reported twice: the worse report counts. */
function oncePerTest(results: readonly SuiteResult[], offer: Offer): readonly Happened[] {
  const worst = new Map<string, Happened>();
  for (const { outcome, ...result } of results) {
    const what = outcome === 'skipped' && !skipIsTrue(result.reason, offer) ? 'hollow' : outcome;
    const before = worst.get(result.test);
    if (before === undefined || WORST_FIRST.indexOf(what) < WORST_FIRST.indexOf(before.what)) {
      worst.set(result.test, { ...result, what });
    }
  }
  return [...worst.values()];
}

export function concerns(row: KnownFailure, { binding, setUp, callers }: Run): boolean {
  if (row.callers !== undefined && !row.callers.includes(callers)) return false;
  return row.bindings.includes(binding) && row.setUps.includes(setUp);
}

function isOf(row: KnownFailure, { test, requirement }: Happened): boolean {
  const name = test.split('::').at(-1)?.replace(/\[.*$/, '');
  return row.requirement === requirement && row.test === name;
}

function staleness(row: KnownFailure, happened: readonly Happened[]): string[] {
  const own = happened.filter((each) => isOf(row, each));
  const as = `${row.requirement} ${row.test} is listed as ${row.happens}`;
  if (own.length === 0) return [`${as}, but did not run`];
  if (own.some(({ what }) => what === row.happens)) return [];
  return [`${as}, but ${own.map(({ what }) => what).join(' and ')}: take it off the list`];
}

function lost(ran: number, expected: number | undefined): string[] {
  if (ran === 0) return ['no test ran'];
  return expected === undefined || ran === expected ? [] : [`${ran} tests ran, not ${expected}`];
}
