import type { RequestListener } from 'node:http';
import type { GrpcEndpoint } from '../adapters/a2a/grpc-endpoint.ts';
import type { GrpcServer } from '../adapters/a2a/grpc-server.ts';
import type { LoadLimit } from '../core/limits.ts';
import { type Clock, type Digest, pause } from '../core/ports/clock.ts';
import type { TaskStore } from '../core/ports/task-store.ts';
import type { ActLog } from '../core/runtime/act-log.ts';
import type { Janitor } from '../core/runtime/janitor.ts';
import type { Runner } from '../core/runtime/runner.ts';
import type { Config } from './config.ts';
import { cannotListen, createHttpServer, type HttpServer } from './http-server.ts';
import { createReadiness } from './readiness.ts';
import type { ServiceTelemetry } from './telemetry.ts';
import { createOpsApp, createWebApp, type WebAppOptions } from './web-app.ts';

/*
 * Start and stop, in order. Start: listen, then work. Stop: refuse connections and claim no more, let turns end while
 * their streams go on, then end streams and waits, and close the store last.
 */

/** Where the service turned out to be. */
export interface Whereabouts {
  /** Without a slash at the end. */
  readonly publicUrl: string;
  /** `host:port`; absent: gRPC is off. */
  readonly grpcAddress?: string;
}

export interface Edges extends Pick<WebAppOptions, 'endpoints' | 'middlewares'> {
  readonly grpc?: GrpcEndpoint;
}

export interface ServiceParts {
  readonly config: Config;
  readonly telemetry: ServiceTelemetry;
  readonly digest: Digest;
  readonly clock: Clock;
  readonly store: TaskStore;
  readonly janitor: Janitor;
  readonly actLog: ActLog;
  /** Absent with ROLE=api. */
  readonly runner?: Runner;
  /** Aborting it ends streams and waits. */
  readonly shutdown: AbortController;
  /** Absent: gRPC is off. */
  readonly grpcServer?: GrpcServer;
  readonly edges: (whereabouts: Whereabouts) => Edges;
  readonly release: () => void;
  readonly halt: () => Promise<void>;
}

/** Where it listens, which is not what it tells callers (PUBLIC_URL, GRPC_URL). */
export interface Listening {
  readonly url: string;
  /** `host:port`; absent: gRPC is off. */
  readonly grpc?: string;
  /** Absent: operations have no port of their own. */
  readonly opsUrl?: string;
}

export interface Service {
  start(): Promise<Listening>;
  /** Drains within DRAIN_MS, if the disk lets it. */
  stop(): Promise<void>;
  /** Drops everything. Resolves when nothing keeps the process from ending, which may take as long as the disk takes. */
  halt(): Promise<void>;
}

/** Time within DRAIN_MS that is kept for ending streams and closing the store, at most a quarter of it. */
const CLOSING_MS = 1_000;
/** Of that, for the streams of turns that ended just now: their last commit has woken them, and they read it. */
const LAST_LOOK_MS = 100;

export function createService(parts: ServiceParts): Service {
  const { config, telemetry, store, runner, janitor, shutdown } = parts;
  const servers: Pick<HttpServer, 'refuse' | 'close'>[] = [];
  const connections = {
    max: config.limits.connections,
    refused: () => telemetry.count('a2a_refusals_total', { limit: 'connections' satisfies LoadLimit }),
  };
  let stopping = false;
  const ready = createReadiness({ store, clock: parts.clock, telemetry, stopping: () => stopping });

  /** Undefined: it is off. */
  async function listenGrpc(): Promise<number | undefined> {
    const { grpcServer } = parts;
    const grpc = config.a2a?.grpc;
    if (!grpcServer || !grpc) return undefined;
    servers.push(grpcServer);
    const address = { host: config.host, port: grpc.port };
    return grpcServer.listen(address).catch((error: Error) => {
      throw cannotListen({ ...address, setting: 'GRPC_PORT' }, error);
    });
  }

  async function listenOps(port: number): Promise<string> {
    const ops = createHttpServer(createOpsApp({ telemetry }).callback());
    servers.push(ops);
    const address = await ops.listen({ host: '127.0.0.1', port, setting: 'OPS_PORT' });
    return `http://127.0.0.1:${address.port}`;
  }

  return {
    start: async () => {
      let handle: RequestListener | undefined;
      const server = createHttpServer((request, response) => {
        if (handle) handle(request, response);
        else response.writeHead(503, { 'Retry-After': '1' }).end();
      }, connections);
      servers.push(server);
      const address = await server.listen({ host: config.host, port: config.port, setting: 'PORT' });
      const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
      // With PORT=0 the system chose the port only now, and the agent card has to name it.
      const publicUrl = config.publicUrlDerived ? `http://127.0.0.1:${address.port}` : config.publicUrl;
      const grpcPort = await listenGrpc();
      const grpcAddress = config.a2a?.grpc?.address ?? `${new URL(publicUrl).hostname}:${grpcPort}`;
      const { grpc, ...edges } = parts.edges({ publicUrl, ...(grpcPort !== undefined && { grpcAddress }) });
      if (grpc) parts.grpcServer?.serve(grpc);
      handle = createWebApp({
        telemetry,
        ready,
        digest: parts.digest,
        https: publicUrl.startsWith('https:'),
        ...edges,
        ...(config.ops.token !== undefined ? { opsToken: config.ops.token } : {}),
      });
      const opsUrl = config.ops.port === undefined ? undefined : await listenOps(config.ops.port);
      runner?.start();
      janitor.start();
      parts.actLog.start();
      return {
        url: `http://${host}:${address.port}`,
        ...(grpcPort !== undefined && { grpc: `${host}:${grpcPort}` }),
        ...(opsUrl !== undefined && { opsUrl }),
      };
    },
    halt: parts.halt,
    stop: async () => {
      stopping = true;
      for (const server of servers) server.refuse();
      const closingMs = Math.min(CLOSING_MS, config.drainMs / 4);
      await runner?.stop(config.drainMs - closingMs);
      await pause(parts.clock, Math.min(LAST_LOOK_MS, closingMs / 4));
      shutdown.abort();
      await Promise.all([...servers.map((server) => server.close(closingMs / 2)), janitor.stop(), parts.actLog.stop()]);
      parts.release();
      await store.close();
    },
  };
}
