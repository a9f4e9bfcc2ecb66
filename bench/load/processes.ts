import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { HeldStreams, HoldJob } from './hold-job.ts';
import type { LoadJob, LoadResult } from './job.ts';

export interface Generator {
  run(job: LoadJob): Promise<LoadResult>;
  close(): void;
}

export interface StreamHolder {
  /** Resolves when every stream has its first event. */
  open(job: HoldJob): Promise<HeldStreams>;
  report(): Promise<HeldStreams>;
  /** Closes all of them. */
  close(): void;
}

/** A process that answers each message with one of its own. */
function startProcess(script: string): { ask<T>(question: object | string): Promise<T>; close(): void } {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), { stdio: 'inherit' });
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        const failed = (): void => reject(new Error(`${script} ended`));
        child.once('exit', failed);
        child.once('message', (answer) => {
          child.off('exit', failed);
          resolve(answer as never);
        });
        child.send(question);
      }),
    close: () => {
      if (child.connected) child.disconnect();
    },
  };
}

export function startGenerator(): Generator {
  const { ask, close } = startProcess('./generator.js');
  return { run: (job) => ask(job), close };
}

export function startStreamHolder(): StreamHolder {
  const { ask, close } = startProcess('./stream-holder.js');
  return { open: (job) => ask(job), report: () => ask('report'), close };
}
