import { atMost } from './bars.ts';
import type { Print } from './scenario.ts';
import { median } from './statistics.ts';

/** How many chunks the smaller and the larger run append. */
export const SMALL = 2_500;
export const LARGE = 5_000;
/** Before the first measurement. */
export const WARM = 500;

const RATIO_MAX = 2.2;

export interface Appends {
  readonly ms: number;
  /** Linux only. */
  readonly cpuMs?: number;
}

export interface AppendRatio {
  readonly smallMs: number;
  readonly largeMs: number;
  readonly ratio: number;
  readonly cpuRatio?: number;
}

/**
 * Runs both sizes in turn. The cost of a chunk must not grow with the artifact. Time is mostly the disk's, so on a machine
 * whose disk others use the ratio of processor time says more.
 */
export async function measureRatio(
  print: Print,
  rounds: number,
  appends: (count: number) => Promise<Appends>,
): Promise<AppendRatio> {
  const small: Appends[] = [];
  const large: Appends[] = [];
  for (let round = 0; round < rounds; round += 1) {
    small.push(await appends(SMALL));
    large.push(await appends(LARGE));
  }
  const middle = (runs: readonly Appends[], figure: keyof Appends) =>
    median(runs.map((run) => run[figure] ?? Number.NaN));
  const [smallMs, largeMs] = [middle(small, 'ms'), middle(large, 'ms')];
  const ratio = largeMs / smallMs;
  const cpuRatio = middle(large, 'cpuMs') / middle(small, 'cpuMs');
  print(`${SMALL} chunks in ${smallMs.toFixed(0)} ms, ${LARGE} in ${largeMs.toFixed(0)} ms (medians of ${rounds})`);
  const cpu = Number.isNaN(cpuRatio) ? '' : `, ${cpuRatio.toFixed(2)} x the CPU`;
  print(`  twice the chunks take ${ratio.toFixed(2)} x the time${cpu} ${atMost(ratio, RATIO_MAX, ' x the time')}`);
  return { smallMs, largeMs, ratio, ...(Number.isNaN(cpuRatio) ? {} : { cpuRatio }) };
}
