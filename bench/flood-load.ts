import { setTimeout as pause } from 'node:timers/promises';
import type { Forge } from './forge.ts';
import type { LoadJob, LoadResult } from './load/job.ts';
import { type Generator, startGenerator } from './load/processes.ts';
import { jobFor } from './measure.ts';
import { ANONYMOUS, BODIES } from './operations.ts';
import type { Running } from './target.ts';

export const SENDERS = 200;
export const STREAMS = 500;

/** For generators to start and to connect. */
const GATHER_MS = 5_000;
const VICTIMS = 4;
const VICTIM_PAUSE_MS = 50;
/** Tokens live 25 s. */
const VICTIM_ROUND_MS = 5_000;

/** What somebody of another tenant has seen. */
export interface Victims {
  readonly taskIds: readonly string[];
  readonly latenciesMs: readonly number[];
  readonly errors: number;
  readonly refused: number;
  readonly firstError?: string;
}

/** A few people on a Jira site who send now and then. */
export async function askNowAndThen(running: Running, forge: Forge, durationMs: number): Promise<Victims> {
  const generator = startGenerator();
  const results: LoadResult[] = [];
  try {
    for (let left = durationMs; left > 0; left -= VICTIM_ROUND_MS) {
      const ms = Math.min(left, VICTIM_ROUND_MS);
      // As many as they can use: nobody sends again before the pause is over.
      const headers = await forge.door.authorize?.((VICTIMS * ms) / VICTIM_PAUSE_MS);
      const job: LoadJob = {
        ...jobFor(running, forge.door),
        bodies: await BODIES.accept(running, forge.door),
        ...{ connections: VICTIMS, durationMs: ms, pauseMs: VICTIM_PAUSE_MS, detailed: true },
        ...(headers ? { perRequestHeaders: headers } : {}),
      };
      results.push(await generator.run(job));
    }
  } finally {
    generator.close();
  }
  const sum = (figure: 'errors' | 'refused') => results.reduce((total, result) => total + result[figure], 0);
  const firstError = results.find((result) => result.firstError !== undefined)?.firstError;
  return {
    taskIds: results.flatMap(({ taskIds = [] }) => taskIds),
    latenciesMs: results.flatMap(({ latenciesMs = [] }) => latenciesMs),
    errors: sum('errors'),
    refused: sum('refused'),
    ...(firstError === undefined ? {} : { firstError }),
  };
}

export interface Flood {
  /** Send without waiting, each as fast as it is answered. */
  readonly senders: LoadResult;
  /** Send and read to the end, again and again. */
  readonly streams: LoadResult;
  readonly victims: Victims;
}

export async function flood(running: Running, forge: Forge, durationMs: number): Promise<Flood> {
  const generators: readonly [Generator, Generator] = [startGenerator(), startGenerator()];
  const startAt = Date.now() + GATHER_MS;
  const job = { ...jobFor(running, ANONYMOUS), startAt, durationMs, detailed: true };
  const accepts = await BODIES.accept(running, ANONYMOUS);
  const streaming = await BODIES.stream(running, ANONYMOUS);
  try {
    const [senders, streams, victims] = await Promise.all([
      generators[0].run({ ...job, bodies: accepts, connections: SENDERS }),
      generators[1].run({ ...job, bodies: streaming, connections: STREAMS }),
      pause(GATHER_MS).then(() => askNowAndThen(running, forge, durationMs)),
    ]);
    return { senders, streams, victims };
  } finally {
    for (const generator of generators) generator.close();
  }
}
