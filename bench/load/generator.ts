import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../statistics.ts';
import { HttpConnection, type Reply } from './http-connection.ts';
import type { LoadJob, LoadResult } from './job.ts';

/*
 * The load generator: a process of its own that gets jobs over IPC and answers each with what it counted. All connections
 * are open before the clock starts: a server on Node accepts one for each turn of its event loop, so that what is asked for
 * later than the first requests waits for seconds, and a round would be over before it was as concurrent as it says.
 */

const ERROR = Buffer.from('"error":{');
const OVERLOADED = Buffer.from('"OVERLOADED"');
const TASK_ID = /"task":\{"id":"([^"]+)"/;
/** Enough of an answer to find the id of its task in. */
const HEAD_BYTES = 400;

function isRefusal({ status, body }: Reply): boolean {
  return status === 429 || status === 503 || body.includes(OVERLOADED);
}

async function run(job: LoadJob): Promise<LoadResult> {
  const head = [`POST ${job.path} HTTP/1.1`, `Host: ${job.host}:${job.port}`, ...job.headers].join('\r\n');
  const salt = randomBytes(6).toString('hex');
  const latenciesMs: number[] = [];
  const taskIds: string[] = [];
  const { perRequestHeaders, pauseMs, detailed } = job;
  const connections = Array.from({ length: job.connections }, () => new HttpConnection(job.host, job.port));
  await Promise.all(connections.map((connection) => connection.connect()));
  await pause(Math.max(0, (job.startAt ?? 0) - Date.now()));
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const until = startedAt + job.durationMs;
  let number = 0;
  let errors = 0;
  let refused = 0;
  let firstError: string | undefined;

  function nextRequest(): string | undefined {
    if (perRequestHeaders && number >= perRequestHeaders.length) return undefined;
    const own = perRequestHeaders ? `\r\n${perRequestHeaders[number]}` : '';
    const template = job.bodies[number % job.bodies.length] ?? '';
    const body = template.replace('{n}', `${salt}-${number}`);
    number += 1;
    return `${head}${own}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  }

  function count(reply: Reply, latencyMs: number): void {
    if (reply.status === 200 && !reply.body.includes(ERROR)) {
      latenciesMs.push(latencyMs);
      const id = detailed ? TASK_ID.exec(reply.body.toString('utf8', 0, HEAD_BYTES))?.[1] : undefined;
      if (id !== undefined) taskIds.push(id);
      return;
    }
    errors += 1;
    if (isRefusal(reply)) refused += 1;
    else firstError ??= `${reply.status} ${reply.body.toString('utf8', 0, 300)}`;
  }

  async function work(connection: HttpConnection): Promise<void> {
    for (;;) {
      if (performance.now() >= until) break;
      const request = nextRequest();
      if (!request) break;
      const sentAt = performance.now();
      try {
        count(await connection.request(request), performance.now() - sentAt);
      } catch (error) {
        errors += 1;
        firstError ??= String(error);
      }
      if (pauseMs !== undefined) await pause(pauseMs);
    }
    connection.close();
  }

  await Promise.all(connections.map(work));
  const elapsedMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    requests: latenciesMs.length + errors,
    errors,
    refused,
    ...(firstError === undefined ? {} : { firstError }),
    elapsedMs,
    p50: percentile(latenciesMs, 50),
    p99: percentile(latenciesMs, 99),
    cpuMs: (user + system) / 1_000,
    ...(detailed ? { taskIds, latenciesMs } : {}),
  };
}

process.on('message', (job: LoadJob) => {
  void run(job).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
