import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isObject, parseJson } from '../json.ts';
import { until } from './until.ts';

/**
 * The real service in a process of its own, started the way an operator starts it. It knows of the simulator what its
 * environment says and nothing else; the first start takes any free port, later ones the same port again, because the
 * address that Jira calls stays.
 */
export interface ServiceProcess {
  /** Where Jira sends its calls. */
  url(): string;
  /** Resolves when `/readyz` says so. `settings` go over the ones from the beginning, for this start only. */
  start(settings?: Readonly<Record<string, string>>): Promise<void>;
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
  /** Resolves when the process is gone, with its exit code or the signal that killed it. */
  exited(): Promise<number | string>;
  /** Resolves when the log of the running process has that event. */
  logged(event: string): Promise<void>;
  /** Aborted, with an Error that says how, when the process ended although nobody sent it a signal. */
  readonly lost: AbortSignal;
  /** Lines of the log that an operator would look at, newest last. */
  complaints(): readonly string[];
  /** Kills what is left. Safe to call at any time, also when the whole program ends. */
  dispose(): void;
}

export interface ServiceOptions {
  readonly settings: Readonly<Record<string, string>>;
  /** Becomes the working directory, so that no `.env` of the repository is read. */
  readonly directory: string;
}

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const START_MS = 30_000;
const STOP_MS = 30_000;
const MAX_COMPLAINTS = 20;
/** What a process needs from ours. Settings of the service that happen to be in our environment stay out. */
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'NODE_V8_COVERAGE'];

interface Running {
  readonly child: ChildProcess;
  readonly events: Set<string>;
  readonly exit: Promise<number | string>;
  /** A signal was sent. */
  told: boolean;
  address?: string;
}

export function createServiceProcess({ settings, directory }: ServiceOptions): ServiceProcess {
  const complaints: string[] = [];
  let running: Running | undefined;
  let origin: string | undefined;
  const lost = new AbortController();

  const complain = (line: string): void => {
    complaints.push(line);
    if (complaints.length > MAX_COMPLAINTS) complaints.shift();
  };

  const launch = (more: Readonly<Record<string, string>>): Running => {
    const port = origin === undefined ? '0' : new URL(origin).port;
    const inherited = INHERITED.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    const child = spawn(process.execPath, [MAIN], {
      cwd: directory,
      env: { ...Object.fromEntries(inherited), LOG_LEVEL: 'info', PORT: port, ...settings, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exit = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
    const started: Running = { child, events: new Set(), exit, told: false };
    exit.then(
      (end) => {
        if (!started.told) lost.abort(new Error(`the service ended by itself: ${end}`));
      },
      (error: unknown) => lost.abort(error),
    );
    createInterface({ input: child.stdout }).on('line', (line) => {
      const record = parseJson(line);
      if (!isObject(record)) return complain(line);
      if (record.level !== 'info') complain(line);
      started.events.add(String(record.event));
      if (record.event === 'service.ready') started.address = String(record.url);
    });
    createInterface({ input: child.stderr }).on('line', complain);
    return started;
  };

  const current = (): Running => {
    if (!running) throw new Error('the service was not started');
    return running;
  };
  /** The condition, unless the process ends first. */
  const whileAlive = async (
    condition: () => boolean | Promise<boolean>,
    what: string,
    limitMs: number,
  ): Promise<void> => {
    const { child } = current();
    await until(
      async () => {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the service ended without ${what}`);
        return condition();
      },
      { what, limitMs },
    );
  };

  return {
    url: () => `${origin}/rovo/a2a`,
    async start(more = {}) {
      const started = launch(more);
      running = started;
      await whileAlive(() => started.address !== undefined, 'being ready', START_MS);
      origin = started.address;
      await whileAlive(async () => (await fetch(`${origin}/readyz`)).ok, 'answering /readyz', START_MS);
    },
    signal(name) {
      current().told = true;
      current().child.kill(name);
    },
    async exited() {
      const { child, exit } = current();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      try {
        return await exit;
      } finally {
        clearTimeout(timer);
      }
    },
    logged: (event) => whileAlive(() => current().events.has(event), `logging ${event}`, STOP_MS),
    lost: lost.signal,
    complaints: () => [...complaints],
    dispose() {
      if (!running) return;
      running.told = true;
      running.child.kill('SIGKILL');
    },
  };
}
