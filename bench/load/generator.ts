import { randomBytes } from 'node:crypto';
import { percentile } from '../statistics.ts';
import { HttpConnection } from './http-connection.ts';
import type { LoadJob, LoadResult } from './job.ts';

/* The load generator: a process of its own that gets jobs over IPC and answers each with what it counted. */

const ERROR = Buffer.from('"error":{');

async function run(job: LoadJob): Promise<LoadResult> {
  const head = [`POST ${job.path} HTTP/1.1`, `Host: ${job.host}:${job.port}`, ...job.headers].join('\r\n');
  const salt = randomBytes(6).toString('hex');
  const latencies: number[] = [];
  const { perRequestHeaders } = job;
  const startedAt = performance.now();
  const until = startedAt + job.durationMs;
  let number = 0;
  let errors = 0;
  let firstError: string | undefined;

  function nextRequest(): Buffer | undefined {
    if (perRequestHeaders && number >= perRequestHeaders.length) return undefined;
    const own = perRequestHeaders ? `\r\n${perRequestHeaders[number]}` : '';
    const template = job.bodies[number % job.bodies.length] ?? '';
    const body = template.replace('{n}', `${salt}-${number}`);
    number += 1;
    return Buffer.from(`${head}${own}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  async function work(): Promise<void> {
    const connection = new HttpConnection(job.host, job.port);
    for (;;) {
      if (performance.now() >= until) break;
      const request = nextRequest();
      if (!request) break;
      const sentAt = performance.now();
      try {
        const { status, body } = await connection.request(request);
        if (status !== 200 || body.includes(ERROR)) {
          errors += 1;
          firstError ??= `${status} ${body.toString('utf8', 0, 300)}`;
        }
      } catch (error) {
        errors += 1;
        firstError ??= String(error);
      }
      latencies.push(performance.now() - sentAt);
    }
    connection.close();
  }

  await Promise.all(Array.from({ length: job.connections }, work));
  const elapsedMs = performance.now() - startedAt;
  return {
    requests: latencies.length,
    errors,
    ...(firstError === undefined ? {} : { firstError }),
    elapsedMs,
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
  };
}

process.on('message', (job: LoadJob) => {
  void run(job).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
