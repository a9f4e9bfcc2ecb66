import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';

export interface CommandResult {
  /** Undefined when the program is not there. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** It was killed at its limit. */
  readonly late: boolean;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly limitMs: number;
}

/** Runs a program to its end, without a shell. It is killed at `limitMs`, which then is its failure. */
export function runCommand(command: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    const startedAt = Date.now();
    const child = spawn(program, args, {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // Not spawn's own timeout: for a program that is not there it keeps this process waiting for the whole of it.
    child.once('spawn', () => {
      const limit = setTimeout(() => child.kill('SIGKILL'), options.limitMs);
      child.once('close', () => clearTimeout(limit));
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', () => resolve({ code: undefined, stdout, stderr, late: false }));
    child.on('close', (code, signal) => {
      const late = signal !== null && Date.now() - startedAt >= options.limitMs;
      const note = signal === null ? '' : `\nkilled with ${signal} after ${options.limitMs} ms`;
      resolve({ code: code ?? 1, stdout, stderr: stderr + note, late });
    });
  });
}

/** Why a command failed, as one line, as far as it said so. */
export function lastWords({ stdout, stderr, late }: CommandResult): string {
  if (late) return 'it took too long';
  const lines = stripVTControlCharacters(`${stdout}\n${stderr}`)
    .split('\n')
    .map((line) => line.replace(/https?:\S+/g, '…').trim())
    .filter((line) => line !== '');
  const faults = lines.filter((line) => /error|could not|not found/i.test(line));
  return (faults[0] ?? lines.at(-1) ?? 'it said nothing').slice(0, 300);
}
