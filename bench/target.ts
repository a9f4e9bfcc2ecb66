import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeTempDir } from './temp-dir.ts';

/** A server that is measured, started fresh as a process of its own. */
export interface Target {
  readonly name: string;
  /** In a folder that is there already it works on the database in it, and leaves the folder behind. */
  start(folder?: string): Promise<Running>;
}

export interface Running {
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  /** It is ours, and has metrics. */
  readonly isService: boolean;
  /** Of the SQLite file, when it has one. */
  readonly folder: string;
  /** From the start of the process until it listened. */
  readonly startMs: number;
  /** Epoch milliseconds, when it listened. */
  readonly readyAt: number;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>;
  /** The same with SIGKILL. */
  kill(): Promise<void>;
}

const START_MS = 20_000;
/** How often somebody looks whether it listens. */
const LOOK_MS = 1;
/** Options of Node that `npm start` gives, for everybody: the peers are no faster for them and no slower. */
const ENGINE_OPTIONS = startScript().match(/(?<= )--\S+/g) ?? [];

interface Program {
  readonly script: string;
  readonly args?: (folder: string) => readonly string[];
  readonly env?: (folder: string) => Readonly<Record<string, string>>;
  readonly isService: boolean;
  /** Reads the port out of one line of its standard output. */
  readonly portIn: (line: string) => number | undefined;
}

export function distPath(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

function startScript(): string {
  const file = readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8');
  return (JSON.parse(file) as { readonly scripts: { readonly start: string } }).scripts.start;
}

/** What the server says on its standard output is a file, as with a supervisor: whoever read it would take its share of the cores. */
async function portOf(child: ChildProcess, output: string, portIn: Program['portIn']): Promise<number> {
  const latest = performance.now() + START_MS;
  while (child.exitCode === null && child.signalCode === null && performance.now() < latest) {
    const lines = (await readFile(output, 'utf8')).split('\n').slice(0, -1);
    const port = lines.map(portIn).find((found) => found !== undefined);
    if (port !== undefined) return port;
    await after(LOOK_MS);
  }
  child.kill('SIGKILL');
  throw new Error('the server ended before it listened');
}

function target(name: string, program: Program): Target {
  return {
    name,
    start: async (given) => {
      const folder = given ?? (await makeTempDir());
      const output = `${folder}/standard-output.log`;
      const descriptor = openSync(output, 'w');
      const startedAt = Date.now();
      const child = spawn(
        process.execPath,
        [...ENGINE_OPTIONS, distPath(program.script), ...(program.args?.(folder) ?? [])],
        {
          cwd: folder,
          env: { PATH: process.env.PATH ?? '', ...program.env?.(folder) },
          stdio: ['ignore', descriptor, 'inherit'],
        },
      );
      closeSync(descriptor);
      // A bench that fails leaves no server behind.
      const dispose = (): void => void child.kill('SIGKILL');
      process.once('exit', dispose);
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      void ended.then(() => process.off('exit', dispose));
      const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
        child.kill(signal);
        await ended;
        if (given === undefined) await rm(folder, { recursive: true, force: true });
      };
      const port = await portOf(child, output, program.portIn);
      const readyAt = Date.now();
      return {
        ...{ host: '127.0.0.1', port, pid: child.pid ?? 0, isService: program.isService },
        ...{ folder, readyAt, startMs: readyAt - startedAt },
        stop: () => end('SIGTERM'),
        kill: () => end('SIGKILL'),
      };
    },
  };
}

const peerPort = (line: string): number | undefined => (JSON.parse(line) as { readonly port?: number }).port;

function servicePort(line: string): number | undefined {
  const { event, url } = JSON.parse(line) as { readonly event?: string; readonly url?: string };
  return event === 'service.ready' && url ? Number(new URL(url).port) : undefined;
}

function peer(name: string, script: string, args?: Program['args']): Target {
  return target(name, {
    script: `bench/peers/${script}.js`,
    portIn: peerPort,
    isService: false,
    ...(args ? { args } : {}),
  });
}

/** Where a service keeps its database. */
export function databaseIn(folder: string): string {
  return `${folder}/connector.db`;
}

/** AGENT for one of the agents of this folder. */
export function agentSource(name: 'echo' | 'chunk' | 'run-log'): string {
  return `module:${distPath(`bench/${name}-agent.js`)}`;
}

export const OPS_TOKEN = 'bench';

/** The shipped service with the echo agent, `synchronous=FULL` and every check on. */
export function service(name: string, env: Readonly<Record<string, string>> = {}): Target {
  return target(name, {
    script: 'src/main.js',
    portIn: servicePort,
    isService: true,
    env: (folder) => ({
      HOST: '127.0.0.1',
      PORT: '0',
      A2A_AUTH: 'anonymous',
      DATABASE_URL: `sqlite:${databaseIn(folder)}`,
      AGENT: agentSource('echo'),
      AGENT_CONCURRENCY: '64',
      OPS_TOKEN,
      ...env,
    }),
  });
}

/** Bounds that one caller who is as many as a bench would meet, and that are not what is measured. */
const ROOM = {
  MAX_QUEUED: '1000000',
  MAX_QUEUED_PER_TENANT: '1000000',
  MAX_STREAMS: '100000',
  MAX_STREAMS_PER_PRINCIPAL: '100000',
} as const;

/** What a process that only answers callers needs. */
export const API_ONLY = { ...ROOM, ROLE: 'api', CREDENTIALS_KEY: Buffer.alloc(32, 7).toString('base64') } as const;

export const PEERS = {
  bare: peer('bare node:http', 'bare-http'),
  bareStreams: peer('bare node:http', 'bare-streams'),
  stub: peer('Koa + transport handler, stub', 'koa-stub'),
  sdkMemory: peer('SDK server, memory', 'sdk-memory'),
  sdkSqlite: peer('SDK server, SQLite NORMAL', 'sdk-sqlite', (folder) => [`${folder}/tasks.db`, 'NORMAL']),
  sdkSqliteFull: peer('SDK server, SQLite FULL', 'sdk-sqlite', (folder) => [`${folder}/tasks.db`, 'FULL']),
} as const satisfies Readonly<Record<string, Target>>;

export const OURS = service('ours, SQLite FULL', ROOM);
