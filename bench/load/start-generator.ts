import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LoadJob, LoadResult } from './job.ts';

export interface Generator {
  run(job: LoadJob): Promise<LoadResult>;
  close(): void;
}

export function startGenerator(): Generator {
  const child = fork(fileURLToPath(new URL('./generator.js', import.meta.url)), { stdio: 'inherit' });
  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        const failed = (): void => reject(new Error('the load generator ended'));
        child.once('exit', failed);
        child.once('message', (result) => {
          child.off('exit', failed);
          resolve(result as LoadResult);
        });
        child.send(job);
      }),
    close: () => child.disconnect(),
  };
}
