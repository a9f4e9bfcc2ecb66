import { randomUUID } from 'node:crypto';
import type { Atlassian } from '../atlassian.ts';
import { JIRA_LIMITS } from '../limits.ts';
import { LANTERN } from '../site/lantern.ts';
import type { Site } from '../site/site.ts';
import { type Bench, type Check, readOutcome } from './check.ts';
import { CHECKS } from './list.ts';

export interface CheckRow {
  readonly id: string;
  readonly rule: string;
  readonly status: 'pass' | 'fail' | 'skip';
  readonly seen: string;
  readonly elapsedMs: number;
}

export interface RunChecksOptions {
  readonly atlassian: Atlassian;
  readonly url: string;
  /** Ids, or groups (`stream`), to keep to or to leave out. Left out ones make no row. */
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** Without the ones that take tens of real seconds. */
  readonly quick?: boolean;
  readonly concurrency?: number;
  /** The longest silence that a stream may have: 15 s unless an agent promises less. */
  readonly heartbeatMs?: number;
  onRow?(row: CheckRow): void;
}

const CONCURRENCY = 8;
/** The longest row that a scale shortens takes 80 s without one. */
const SHORTENING_SCALE = 8;
/** Real time: an agent that never ends its work fails a check instead of holding it up for Jira's hour. */
const PATIENCE_MS = 120_000;

export const isNamed = (names: readonly string[], check: Check): boolean =>
  names.some((name) => check.id === name || check.id.startsWith(`${name}.`));

function createBench(options: RunChecksOptions, site: Site): Bench {
  const { atlassian, url, heartbeatMs } = options;
  const item: Bench['item'] = (fields = {}) =>
    site.records.add({ project: 'SHOP', summary: 'A work item made for a readiness check', ...fields });
  return {
    atlassian,
    site,
    url,
    heartbeatMs: heartbeatMs ?? JIRA_LIMITS.heartbeatMs,
    item,
    client: atlassian.client({
      url,
      as: 'alice',
      site: site.name,
      interactionMs: PATIENCE_MS * atlassian.timeScale.factor,
    }),
    slowItem(ms, fields) {
      const slow = item(fields);
      site.traffic.hold(slow.key, ms);
      return slow;
    },
    apart: () => createBench(options, atlassian.openSite(`check-${randomUUID().slice(0, 8)}`, LANTERN)),
  };
}

/** Runs the readiness table against a remote agent that trusts this Atlassian. Rows come in the order of the list. */
export async function runChecks(options: RunChecksOptions): Promise<readonly CheckRow[]> {
  const isScaled = options.atlassian.timeScale.factor >= SHORTENING_SCALE;
  const isSlow = ({ slow }: Check): boolean => slow === true || (slow === 'unscaled' && !isScaled);
  const chosen = CHECKS.filter(
    (check) =>
      (!options.only || isNamed(options.only, check)) &&
      !isNamed(options.skip ?? [], check) &&
      !(options.quick && isSlow(check)),
  );
  const bench = createBench(options, options.atlassian.site);
  const rows = new Map<string, CheckRow>();

  const runOne = async (check: Check): Promise<void> => {
    const startedAt = performance.now();
    const outcome = await check.run(bench).then(
      (seen) => ({ status: 'pass' as const, seen }),
      (error: unknown) => readOutcome(error),
    );
    const row = { id: check.id, rule: check.rule, ...outcome, elapsedMs: performance.now() - startedAt };
    rows.set(check.id, row);
    options.onRow?.(row);
  };

  const queue = chosen.filter((check) => !check.alone);
  // The slow ones start first: the others finish in their shadow.
  queue.sort((a, b) => Number(isSlow(b)) - Number(isSlow(a)));
  const worker = async (): Promise<void> => {
    for (let check = queue.shift(); check; check = queue.shift()) await runOne(check);
  };
  await Promise.all(Array.from({ length: options.concurrency ?? CONCURRENCY }, worker));
  for (const check of chosen) if (check.alone) await runOne(check);
  return chosen.flatMap((check) => rows.get(check.id) ?? []);
}

export function hasFailed(rows: readonly CheckRow[]): boolean {
  return rows.length === 0 || rows.some((row) => row.status === 'fail');
}
