import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const PROGRAM = fileURLToPath(new URL('../../src/ops.js', import.meta.url));

export interface RunOptions {
  /** Where it looks for `.env`. */
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the command line in a process of its own, as `npm run ops -- …` does. */
export function runOps({ directory, env = {} }: RunOptions, ...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: directory,
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => (out += data));
    child.stderr.on('data', (data) => (err += data));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}
