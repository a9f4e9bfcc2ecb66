import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
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

const HOST = '127.0.0.1';
const START_MS = 20_000;
/** How often somebody looks whether it listens. */
const LOOK_MS = 1;
/** Options of Node that `npm start` gives, for everybody: the peers are no faster for them and no slower. */
const ENGINE_OPTIONS = startScript().match(/(?<= )--\S+/g) ?? [];

/** Listens on HOST and PORT of its environment. */
interface Program {
  readonly script: string;
  readonly args?: (folder: string) => readonly string[];
  readonly env?: (folder: string) => Readonly<Record<string, string>>;
  readonly isService: boolean;
}

export function distPath(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

function startScript(): string {
  const file = readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8');
  return (JSON.parse(file) as { readonly scripts: { readonly start: string } }).scripts.start;
}

/** One that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    socket.on('error', () => resolve(false));
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  const latest = performance.now() + START_MS;
  while (child.exitCode === null && child.signalCode === null && performance.now() < latest) {
    if (await isListening(port)) return;
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
      const port = await freePort();
      const startedAt = Date.now();
      const child = spawn(
        process.execPath,
        [...ENGINE_OPTIONS, distPath(program.script), ...(program.args?.(folder) ?? [])],
        {
          cwd: folder,
          env: { PATH: process.env.PATH ?? '', HOST, PORT: String(port), ...program.env?.(folder) },
          // Lines are made and written, and whoever read them would take its share of the cores or of the disk.
          stdio: ['ignore', 'ignore', 'inherit'],
        },
      );
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
      await listening(child, port);
      const readyAt = Date.now();
      return {
        ...{ host: HOST, port, pid: child.pid ?? 0, isService: program.isService },
        ...{ folder, readyAt, startMs: readyAt - startedAt },
        stop: () => end('SIGTERM'),
        kill: () => end('SIGKILL'),
      };
    },
  };
}

function peer(name: string, script: string, args?: Program['args']): Target {
  return target(name, {
    script: `bench/peers/${script}.js`,
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
    isService: true,
    env: (folder) => ({
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
