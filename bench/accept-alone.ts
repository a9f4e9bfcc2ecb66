import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskStore } from '../core/ports/task-store.ts';
import { atMost } from './bars.ts';
import { startGenerator } from './load/processes.ts';
import { type Measured, measure } from './measure.ts';
import { ANONYMOUS, BODIES } from './operations.ts';
import type { Scenario } from './scenario.ts';
import { median, percentile } from './statistics.ts';
import { acceptTask, openStore } from './store-tasks.ts';
import { API_ONLY, PEERS, service } from './target.ts';
import { makeTempDir } from './temp-dir.ts';

/*
 * One caller at a time: nothing can be grouped, so an accept costs what HTTP costs and one flush to the disk. The prices
 * of both are measured beside it, in the same run: the stub is Koa and the SDK's transport handler with nothing behind
 * them, the commit is the rows of an accept through the store port.
 */

const COMMITS = 500;
/** One commit for the one step, and a little for what the service commits by itself. */
const COMMITS_MAX = 1.02;
/** Checking, fingerprint, log and metrics are in neither price. */
const SUM_MAX = 1.25;

const API = service('ours, ROLE=api', API_ONLY);

async function commitMs(store: TaskStore): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < COMMITS; index += 1) {
    const began = performance.now();
    await acceptTask(store);
    times.push(performance.now() - began);
  }
  return percentile(times, 50);
}

export const acceptAlone: Scenario = async (print, { rounds, seconds }) => {
  const folder = await makeTempDir();
  const store = await openStore(join(folder, 'bench.db'));
  const generator = startGenerator();
  const plan = { bodies: BODIES.accept, connections: 1, seconds };
  const commits: number[] = [];
  const stub: Measured[] = [];
  const ours: Measured[] = [];
  try {
    await commitMs(store);
    for (let round = 0; round < rounds; round += 1) {
      commits.push(await commitMs(store));
      stub.push(await measure(generator, { name: PEERS.stub.name, target: PEERS.stub, door: ANONYMOUS }, plan));
      ours.push(await measure(generator, { name: API.name, target: API, door: ANONYMOUS }, plan));
    }
  } finally {
    generator.close();
    await store.close();
    await rm(folder, { recursive: true });
  }
  const price = { commit: median(commits), http: median(stub.map(({ p50 }) => p50)) };
  const accept = median(ours.map(({ p50 }) => p50));
  const perAccept = median(ours.map(({ commitsEach }) => commitsEach ?? Number.NaN));
  const share = accept / (price.commit + price.http);
  print(
    `one FULL commit ${price.commit.toFixed(2)} ms, HTTP alone ${price.http.toFixed(2)} ms, an accept ${accept.toFixed(2)} ms (p50)`,
  );
  print(`  an accept takes ${share.toFixed(2)} x the sum of both ${atMost(share, SUM_MAX, ' x')}`);
  print(`  commits an accept ${perAccept.toFixed(3)} ${atMost(perAccept, COMMITS_MAX)}`);
  return { commitMs: price.commit, httpMs: price.http, acceptMs: accept, commitsEach: perAccept };
};
