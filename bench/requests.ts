import type { LoadJob, LoadResult } from './load/job.ts';
import { type Generator, startGenerator } from './load/start-generator.ts';
import type { Figures, Scenario } from './scenario.ts';
import { median, spread } from './statistics.ts';
import { OURS, PEERS, type Running, service, type Target } from './target.ts';

/*
 * Requests per second of one operation, ours and its peers in the same run: every target is started fresh, they take
 * turns, each round gives one figure, and ratios are of medians.
 */

const JSON_HEADERS = ['Content-Type: application/json', 'A2A-Version: 1.0', 'Connection: keep-alive'] as const;

function sendBody(method: string, returnImmediately: boolean): string {
  const message = { messageId: 'm-{n}', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message, configuration: { returnImmediately } } });
}

interface Operation {
  readonly targets: readonly Target[];
  readonly ours: Target;
  /** Bodies that the generator sends in turn. */
  readonly bodies: (running: Running) => Promise<readonly string[]>;
  /** Peer name -> what the ratio to it has to reach at concurrency 64, for the printout. */
  readonly bars: Readonly<Record<string, number>>;
}

const PREPARED = 500;

async function call(running: Running, body: string): Promise<Record<string, unknown>> {
  const response = await fetch(`http://${running.host}:${running.port}/a2a`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
    body,
  });
  return (await response.json()) as Record<string, unknown>;
}

/** Tasks to read: made before the clock runs. */
async function prepareTasks(running: Running): Promise<readonly string[]> {
  const template = sendBody('SendMessage', false);
  const ids: string[] = [];
  for (let index = 0; index < PREPARED; index += 1) {
    const { result } = await call(running, template.replace('{n}', `prepared-${index}`));
    const { id, task } = (result ?? {}) as { readonly id?: string; readonly task?: { readonly id: string } };
    ids.push(task?.id ?? id ?? '');
  }
  return ids;
}

const always = (body: string) => async () => [body];
const readEach = async (running: Running): Promise<readonly string[]> => {
  const ids = await prepareTasks(running);
  return ids.map((id) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } }));
};
const listPage = async (running: Running): Promise<readonly string[]> => {
  await prepareTasks(running);
  return [JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { pageSize: 50 } })];
};

const API_ONLY = service('ours, ROLE=api', {
  ROLE: 'api',
  CREDENTIALS_KEY: Buffer.alloc(32, 7).toString('base64'),
});
const { bare, stub, sdkMemory, sdkSqlite, sdkSqliteFull } = PEERS;

const OPERATIONS = {
  send: {
    ours: OURS,
    targets: [bare, stub, sdkMemory, sdkSqlite, sdkSqliteFull],
    bodies: always(sendBody('SendMessage', false)),
    bars: { [sdkSqlite.name]: 5, [sdkMemory.name]: 1.5, [bare.name]: 0.35 },
  },
  accept: {
    ours: API_ONLY,
    targets: [bare],
    bodies: always(sendBody('SendMessage', true)),
    bars: { [bare.name]: 0.4 },
  },
  get: {
    ours: OURS,
    targets: [bare, stub, sdkMemory, sdkSqlite],
    bodies: readEach,
    bars: { [sdkSqlite.name]: 2, [bare.name]: 0.6 },
  },
  list: { ours: OURS, targets: [sdkMemory, sdkSqlite], bodies: listPage, bars: {} },
  stream: {
    ours: OURS,
    targets: [sdkMemory, sdkSqlite],
    bodies: always(sendBody('SendStreamingMessage', false)),
    bars: { [sdkSqlite.name]: 5 },
  },
} as const satisfies Readonly<Record<string, Operation>>;

async function measure(generator: Generator, target: Target, plan: Plan): Promise<LoadResult> {
  const running = await target.start();
  try {
    const bodies = await plan.operation.bodies(running);
    const job: LoadJob = {
      host: running.host,
      port: running.port,
      path: '/a2a',
      headers: JSON_HEADERS,
      bodies,
      connections: plan.concurrency,
      durationMs: plan.seconds * 1_000,
    };
    // Warm: the first second is the compiler's.
    await generator.run({ ...job, durationMs: 1_000 });
    return await generator.run(job);
  } finally {
    await running.stop();
  }
}

interface Plan {
  readonly operation: Operation;
  readonly concurrency: number;
  readonly seconds: number;
}

function perSecond({ requests, errors, elapsedMs }: LoadResult): number {
  return ((requests - errors) * 1_000) / elapsedMs;
}

function scenarioOf(name: string, operation: Operation): Scenario {
  return async (print, options) => {
    const figures: Record<string, number> = {};
    const generator = startGenerator();
    try {
      for (const concurrency of options.concurrencies) {
        const results = new Map<Target, LoadResult[]>();
        const targets = [...operation.targets, operation.ours];
        for (let round = 0; round < options.rounds; round += 1) {
          for (const target of targets) {
            const result = await measure(generator, target, { operation, concurrency, seconds: options.seconds });
            results.set(target, [...(results.get(target) ?? []), result]);
            if (result.errors > 0) print(`! ${target.name}: ${result.errors} errors, first: ${result.firstError}`);
          }
        }
        const medians = new Map<Target, number>();
        for (const [target, list] of results) medians.set(target, median(list.map(perSecond)));
        const ours = medians.get(operation.ours) ?? Number.NaN;
        print(`${name} at ${concurrency}`);
        for (const [target, list] of results) {
          const rate = medians.get(target) ?? Number.NaN;
          const ratio = target === operation.ours ? '' : `  ours is ${(ours / rate).toFixed(2)} x`;
          const wanted = concurrency === 64 ? operation.bars[target.name] : undefined;
          const bar = wanted === undefined ? '' : ` (bar ${wanted}: ${ours / rate >= wanted ? 'met' : 'MISSED'})`;
          const p99 = median(list.map((result) => result.p99));
          print(
            `  ${target.name.padEnd(30)} ${rate.toFixed(0).padStart(7)}/s ±${(spread(list.map(perSecond)) * 100).toFixed(0)}%  p99 ${p99.toFixed(1)} ms${ratio}${bar}`,
          );
          figures[`${target.name} at ${concurrency}`] = rate;
        }
      }
      return figures satisfies Figures;
    } finally {
      generator.close();
    }
  };
}

/** One scenario for each operation on `/a2a`. */
export const REQUEST_SCENARIOS: Readonly<Record<string, Scenario>> = Object.fromEntries(
  Object.entries(OPERATIONS).map(([name, operation]) => [name, scenarioOf(name, operation)]),
);
