import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** One line of the service's log. */
export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly [field: string]: unknown;
}

/** The shipped program in a process of its own: environment in, HTTP, signals and log out. */
export interface ServiceProcess {
  /** `http://127.0.0.1:<port>`. Throws before it is ready. */
  readonly origin: string;
  readonly pid: number;
  /** Resolves when it listens; rejects when it ends first, with what it said. */
  ready(): Promise<void>;
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGUSR2'): void;
  /** Resolves when the process is gone and its output was read, with its exit code or the signal that killed it. */
  exited(): Promise<number | string>;
  /** Everything that it wrote, as it is. */
  output(): string;
  log(): readonly LogLine[];
  /** Resolves with the first line of that event, also when it was written before. Rejects after 15 s. */
  logged(event: string): Promise<LogLine>;
}

export interface ServiceOptions {
  /** Becomes the working directory: no `.env` of the repository is read, and the database is made there. */
  readonly directory: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Compiled file and its arguments. Default: the program as it is shipped. */
  readonly program?: readonly [file: string, ...args: string[]];
  /** Modules that are loaded before the program. */
  readonly preload?: readonly string[];
  /** Of the user that it runs as; only root may name another one. */
  readonly uid?: number;
}

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const PATIENCE_MS = 15_000;
/** What a process needs from ours. Settings of the service that happen to be in our environment stay out. */
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'NODE_V8_COVERAGE'];

function environment(settings: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = INHERITED.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), PORT: '0', DATABASE_URL: 'sqlite:./connector.db', ...settings };
}

function parsed(line: string): LogLine | undefined {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return undefined;
  }
}

export function launchService(options: ServiceOptions): ServiceProcess {
  const { directory, settings, program = [MAIN], preload = [], uid } = options;
  const before = ['--enable-source-maps', ...preload.map((module) => `--import=${module}`)];
  const child: ChildProcess = spawn(process.execPath, [...before, ...program], {
    cwd: directory,
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid }),
  });
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('the service has no output');
  const lines: string[] = [];
  const log: LogLine[] = [];
  let waiting: { readonly event: string; resolve(line: LogLine): void; reject(error: Error): void }[] = [];

  createInterface({ input: stdout }).on('line', (line) => {
    lines.push(line);
    const record = parsed(line);
    if (!record) return;
    log.push(record);
    for (const one of waiting) if (one.event === record.event) one.resolve(record);
    waiting = waiting.filter(({ event }) => event !== record.event);
  });
  createInterface({ input: stderr }).on('line', (line) => lines.push(line));
  const gone = once(child, 'close').then(([code, signal]) => {
    for (const { event, reject } of waiting) reject(new Error(`ended before ${event}:\n${lines.join('\n')}`));
    waiting = [];
    return (code ?? signal) as number | string;
  });
  // A test that fails must not leave a service behind.
  const dispose = () => child.kill('SIGKILL');
  process.once('exit', dispose);
  void gone.then(() => process.off('exit', dispose));

  const logged = (event: string): Promise<LogLine> => {
    const before = log.find((line) => line.event === event);
    if (before) return Promise.resolve(before);
    if (child.exitCode !== null || child.signalCode !== null) {
      return Promise.reject(new Error(`ended without ${event}:\n${lines.join('\n')}`));
    }
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`not logged: ${event}:\n${lines.join('\n')}`)), PATIENCE_MS);
      waiting.push({
        event,
        resolve: (line) => {
          clearTimeout(limit);
          resolve(line);
        },
        reject: (error) => {
          clearTimeout(limit);
          reject(error);
        },
      });
    });
  };

  return {
    get origin() {
      const line = log.find(({ event }) => event === 'service.ready');
      if (!line) throw new Error('the service is not ready');
      return String(line.url);
    },
    pid: child.pid ?? 0,
    ready: async () => void (await logged('service.ready')),
    signal: (name) => void child.kill(name),
    exited: () => gone,
    output: () => lines.join('\n'),
    log: () => [...log],
    logged,
  };
}
