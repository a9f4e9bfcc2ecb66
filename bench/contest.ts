import { atLeast, remark } from './bars.ts';
import { type Generator, startGenerator } from './load/processes.ts';
import { type Contender, type Measured, measure } from './measure.ts';
import type { Bodies } from './operations.ts';
import { orderOf } from './order.ts';
import type { Print, Scenario } from './scenario.ts';
import { median, spread } from './statistics.ts';

/*
 * Requests per second of one operation, ours and its peers in the same run: every contender is started fresh, they take turns in
 * another order each round, each round gives one figure, and ratios are of medians. Processor time a request is beside it,
 * because it says the same on a machine whose other tenants are busy.
 */

export interface Contest {
  readonly bodies: Bodies;
  readonly peers: readonly Contender[];
  readonly ours: Contender;
  /** Peer name -> what ours has to reach at concurrency 64. */
  readonly bars: Readonly<Record<string, Bar>>;
  /** Of the store, for each request of ours at concurrency 64. */
  readonly commitsBelow?: number;
  /** A round is no longer than this. */
  readonly secondsMax?: number;
}

interface Bar {
  /** Of ours to the peer, in requests per second. */
  readonly ratio: number;
  /** Or so much processor time a request above the peer's. */
  readonly orCpuMs?: number;
}

const JUDGED_AT = 64;

interface Summary {
  readonly contender: Contender;
  readonly perSecond: number;
  readonly spread: number;
  readonly p99: number;
  readonly cpuMsEach: number | undefined;
  readonly commitsEach: number | undefined;
  /** Of the generator: processor time a request, and its share of a core meanwhile. */
  readonly generator: { readonly cpuMsEach: number; readonly share: number };
}

function middle(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : median(known);
}

function summarise(contender: Contender, rounds: readonly Measured[]): Summary {
  const rates = rounds.map(({ perSecond }) => perSecond);
  return {
    contender,
    perSecond: median(rates),
    spread: spread(rates),
    p99: median(rounds.map(({ p99 }) => p99)),
    cpuMsEach: middle(rounds.map(({ cpuMsEach }) => cpuMsEach)),
    commitsEach: middle(rounds.map(({ commitsEach }) => commitsEach)),
    generator: {
      cpuMsEach: median(rounds.map(({ cpuMs, requests }) => cpuMs / requests)),
      share: median(rounds.map(({ cpuMs, elapsedMs }) => cpuMs / elapsedMs)),
    },
  };
}

function compared(ours: Summary, peer: Summary, bar: Bar | undefined): string {
  const ratio = ours.perSecond / peer.perSecond;
  const [oursCpu, peerCpu] = [ours.cpuMsEach, peer.cpuMsEach];
  const cpu =
    oursCpu === undefined || peerCpu === undefined ? undefined : { ratio: oursCpu / peerCpu, above: oursCpu - peerCpu };
  const said = `ours: ${ratio.toFixed(2)} x the rate${cpu ? `, ${cpu.ratio.toFixed(2)} x the CPU (${signed(cpu.above)} ms)` : ''}`;
  if (!bar) return said;
  if (bar.orCpuMs === undefined) return `${said} ${atLeast(ratio, bar.ratio, ' x the rate')}`;
  const met = ratio >= bar.ratio || (cpu !== undefined && cpu.above <= bar.orCpuMs);
  return `${said} ${remark(met, `at least ${bar.ratio} x the rate, or at most ${bar.orCpuMs} ms of CPU above it`)}`;
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(2)}`;
}

function row(summary: Summary): string {
  const { contender, perSecond, spread, p99, cpuMsEach, commitsEach } = summary;
  const cells = [
    // One round has no spread.
    `  ${contender.name.padEnd(30)} ${perSecond.toFixed(0).padStart(6)}/s${spread > 0 ? ` ±${(spread * 100).toFixed(0)}%` : ''}`,
    `p99 ${p99.toFixed(1)} ms`,
    ...(cpuMsEach === undefined ? [] : [`CPU ${cpuMsEach.toFixed(2)} ms`]),
    ...(commitsEach === undefined ? [] : [`commits ${commitsEach.toFixed(3)}`]),
  ];
  return cells.join('  ');
}

function fastestOf(summaries: readonly Summary[]): Summary {
  return summaries.reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
}

/** The generator must not be what is measured, so it says how far it is from that. */
function ceiling(fastest: Summary): string {
  const { cpuMsEach, share } = fastest.generator;
  const most = (1_000 / cpuMsEach).toFixed(0);
  return `  load generator: its ceiling is ${most}/s on a core of its own; beside ${fastest.contender.name} it used ${(share * 100).toFixed(0)}% of one`;
}

async function roundsOf(
  generator: Generator,
  { bodies, peers, ours, secondsMax = Number.POSITIVE_INFINITY }: Contest,
  plan: { readonly connections: number; readonly seconds: number; readonly rounds: number; readonly print: Print },
): Promise<readonly Summary[]> {
  const contenders = [...peers, ours];
  const results = contenders.map((): Measured[] => []);
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const index of orderOf(contenders.length, round)) {
      const contender = contenders[index] ?? ours;
      const seconds = Math.min(plan.seconds, secondsMax);
      const measured = await measure(generator, contender, { bodies, connections: plan.connections, seconds });
      results[index]?.push(measured);
      const { errors, firstError } = measured;
      if (errors > 0) plan.print(`! ${contender.name}: ${errors} errors, first: ${firstError ?? 'a refusal'}`);
    }
  }
  return contenders.map((contender, index) => summarise(contender, results[index] ?? []));
}

function figuresOf(summaries: readonly Summary[], connections: number): Record<string, number> {
  const figures: Record<string, number> = {};
  for (const { contender, perSecond, p99, cpuMsEach, commitsEach } of summaries) {
    const name = `${contender.name} at ${connections}`;
    figures[name] = perSecond;
    figures[`${name}, p99 ms`] = p99;
    if (cpuMsEach !== undefined) figures[`${name}, CPU ms`] = cpuMsEach;
    if (commitsEach !== undefined) figures[`${name}, commits`] = commitsEach;
  }
  figures[`load generator at ${connections}, ceiling`] = 1_000 / fastestOf(summaries).generator.cpuMsEach;
  return figures;
}

export function contestScenario(name: string, contest: Contest): Scenario {
  return async (print, options) => {
    const figures: Record<string, number> = {};
    const generator = startGenerator();
    try {
      for (const connections of options.concurrencies) {
        const summaries = await roundsOf(generator, contest, { ...options, connections, print });
        const ours = summaries.find(({ contender }) => contender === contest.ours);
        const judged = connections === JUDGED_AT;
        print(`${name} at ${connections}`);
        for (const summary of summaries) {
          print(row(summary));
          if (!ours || summary === ours) continue;
          print(`    ${compared(ours, summary, judged ? contest.bars[summary.contender.name] : undefined)}`);
        }
        const { commitsBelow } = contest;
        if (judged && commitsBelow !== undefined && ours?.commitsEach !== undefined) {
          const said = `${ours.commitsEach.toFixed(3)} commits a request`;
          print(`  ${said} ${remark(ours.commitsEach < commitsBelow, `below ${commitsBelow}`)}`);
        }
        print(ceiling(fastestOf(summaries)));
        Object.assign(figures, figuresOf(summaries, connections));
      }
      return figures;
    } finally {
      generator.close();
    }
  };
}
