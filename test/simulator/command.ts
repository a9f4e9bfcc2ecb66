import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../simulator/cli.js', import.meta.url));
export const ANY_PORTS = ['--jwks-port', '0', '--site-port', '0', '--control-port', '0'];

const running = new Set<ChildProcessWithoutNullStreams>();
/** For `after`: a test that fails must not leave a process behind, which would keep the file from ending. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** The simulator's program in a process of its own. */
export interface Run {
  readonly process: ChildProcessWithoutNullStreams;
  readonly output: () => string;
  /** Resolves when the output matches. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  readonly exit: Promise<number | null>;
}

export function run(...args: readonly string[]): Run {
  const child = spawn(process.execPath, [CLI, ...args]);
  let output = '';
  let look = (): void => {};
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      look();
    });
  }
  const exit = once(child, 'close').then(([code]) => code as number | null);
  running.add(child);
  void exit.then(() => running.delete(child));
  return {
    process: child,
    output: () => output,
    exit,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        look = () => {
          const match = pattern.exec(output);
          if (match) resolve(match);
        };
        look();
        void exit.then(() => reject(new Error(`ended without ${pattern}: ${output}`)));
      }),
  };
}
