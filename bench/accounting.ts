import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { query } from './database.ts';
import { RUN_LOG } from './run-log-agent.ts';
import { databaseIn, distPath } from './target.ts';

/** What became of the tasks that callers were told of. */
export interface Account {
  readonly tasks: number;
  /** Told of, and not COMPLETED in the database. */
  readonly lost: number;
  /** Ran more than once. */
  readonly doubled: number;
  /** COMPLETED without a run. */
  readonly unrun: number;
  /** Of the verifier. */
  readonly findings: readonly string[];
}

async function verify(folder: string): Promise<readonly string[]> {
  const args = [distPath('src/verify.js'), databaseIn(folder), '--stopped'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const findings = text.split('\n').filter((line) => line !== '');
  return code === 0 || findings.length > 0 ? findings : [`the verifier ended with ${code}`];
}

/** Of the database that a service with the run log agent has left. */
export async function account(folder: string, told: readonly string[]): Promise<Account> {
  const runs = new Map<string, number>();
  for (const id of (await readFile(join(folder, RUN_LOG), 'utf8')).split('\n')) {
    if (id !== '') runs.set(id, (runs.get(id) ?? 0) + 1);
  }
  const rows = query<{ readonly id: string; readonly state: string }>(folder, 'select id, state from task');
  const completed = new Set(rows.filter(({ state }) => state === 'TASK_STATE_COMPLETED').map(({ id }) => id));
  return {
    tasks: rows.length,
    lost: told.filter((id) => !completed.has(id)).length,
    doubled: [...runs.values()].filter((count) => count > 1).length,
    unrun: [...completed].filter((id) => !runs.has(id)).length,
    findings: await verify(folder),
  };
}
