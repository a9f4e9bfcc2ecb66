import type { LoadJob, LoadResult } from './load/job.ts';
import type { Generator } from './load/processes.ts';
import type { Bodies, Door } from './operations.ts';
import { usageOf } from './process-usage.ts';
import { COMMITS, metricOf } from './service-metrics.ts';
import type { Running, Target } from './target.ts';

/** Who is measured, and through which door. */
export interface Contender {
  readonly name: string;
  readonly target: Target;
  readonly door: Door;
}

export interface Measured extends LoadResult {
  /** Answers a second, without errors. */
  readonly perSecond: number;
  /** Of the server, a request. Linux only. */
  readonly cpuMsEach?: number;
  /** Of the store, a request. Ours only. */
  readonly commitsEach?: number;
}

const HEADERS = ['Content-Type: application/json', 'A2A-Version: 1.0', 'Connection: keep-alive'] as const;
/**
 * What comes first is the compiler's: a service that is a second old takes a quarter more processor time for a message than one
 * that is five seconds old, and the peers, which have less to compile, a tenth. Everybody gets the same.
 */
const WARM_MS = 4_000;
/** Authorizations are made for so many; a round that has used them up ends before its time. */
const MOST_PER_SECOND = 6_000;

export function jobFor({ host, port }: Running, door: Door): Omit<LoadJob, 'bodies' | 'connections' | 'durationMs'> {
  return { host, port, path: door.path, headers: HEADERS };
}

/** The job with authorizations of its own, made before its clock runs. */
export async function authorized(job: LoadJob, door: Door): Promise<LoadJob> {
  const headers = await door.authorize?.((job.durationMs / 1_000) * MOST_PER_SECOND);
  return headers ? { ...job, perRequestHeaders: headers } : job;
}

/** What the server used for the requests between now and the call of the answer. */
export async function meter(
  running: Running,
): Promise<(requests: number) => Promise<Pick<Measured, 'cpuMsEach' | 'commitsEach'>>> {
  const commits = await metricOf(running, COMMITS);
  const usage = await usageOf(running.pid);
  return async (requests) => {
    const usageAfter = await usageOf(running.pid);
    const commitsAfter = await metricOf(running, COMMITS);
    return {
      ...(usage && usageAfter ? { cpuMsEach: (usageAfter.cpuMs - usage.cpuMs) / requests } : {}),
      ...(commitsAfter === undefined ? {} : { commitsEach: (commitsAfter - (commits ?? 0)) / requests }),
    };
  };
}

/** One round of one contender, started fresh. */
export async function measure(
  generator: Generator,
  { target, door }: Contender,
  plan: { readonly bodies: Bodies; readonly connections: number; readonly seconds: number },
): Promise<Measured> {
  const running = await target.start();
  try {
    const bodies = await plan.bodies(running, door);
    const job = { ...jobFor(running, door), bodies, connections: plan.connections };
    // Both before either, so that nobody rests between warming up and being measured because its tokens take time.
    const measured = await authorized({ ...job, durationMs: plan.seconds * 1_000 }, door);
    const warming = await authorized({ ...job, durationMs: WARM_MS }, door);
    await generator.run(warming);
    const used = await meter(running);
    const result = await generator.run(measured);
    const { requests, errors, elapsedMs } = result;
    return { ...result, ...(await used(requests)), perSecond: ((requests - errors) * 1_000) / elapsedMs };
  } finally {
    await running.stop();
  }
}
