import { connect, type Socket } from 'node:net';
import type { HeldStreams, HoldJob } from './hold-job.ts';

/*
 * Opens event streams and keeps them open, a process of its own: sockets that do nothing but count what comes. One job in,
 * one answer when every stream has its first event, and one for each later question.
 */

const DATA = Buffer.from('\ndata: ');
const COMMENT = Buffer.from('\n: \n');
const OPEN_AT_ONCE = 50;

let events = 0;
let comments = 0;
let closed = 0;

function count(chunk: Buffer, mark: Buffer): number {
  let found = 0;
  for (let at = chunk.indexOf(mark); at >= 0; at = chunk.indexOf(mark, at + mark.length)) found += 1;
  return found;
}

/** Resolves with the first event. */
function openStream(job: HoldJob, number: number): Promise<Socket> {
  const body = job.bodies[number % job.bodies.length] ?? '';
  const head = [`POST ${job.path} HTTP/1.1`, `Host: ${job.host}:${job.port}`, ...job.headers].join('\r\n');
  return new Promise((resolve, reject) => {
    const socket = connect(job.port, job.host, () => {
      socket.write(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
    socket.on('data', (chunk: Buffer) => {
      events += count(chunk, DATA);
      comments += count(chunk, COMMENT);
      if (chunk.includes(DATA)) resolve(socket);
      else if (chunk.includes('"error":{')) reject(new Error(chunk.toString('utf8')));
    });
    socket.on('error', reject);
    socket.on('close', () => {
      closed += 1;
      reject(new Error('a stream was closed before its first event'));
    });
  });
}

async function hold(job: HoldJob): Promise<void> {
  for (let opened = 0; opened < job.streams; opened += OPEN_AT_ONCE) {
    const wave = Array.from({ length: Math.min(OPEN_AT_ONCE, job.streams - opened) }, (_, index) =>
      openStream(job, opened + index),
    );
    await Promise.all(wave);
  }
}

function report(): void {
  process.send?.({ events, comments, closed } satisfies HeldStreams);
}

process.on('message', (job: HoldJob | 'report') => {
  if (job === 'report') {
    report();
    return;
  }
  hold(job).then(report, (error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
process.on('disconnect', () => process.exit(0));
