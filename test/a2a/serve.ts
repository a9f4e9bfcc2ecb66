import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { Edge, Session } from '../../adapters/a2a/edge.ts';
import { createA2AEndpoint, type EndpointOptions } from '../../adapters/a2a/endpoint.ts';
import { createLoadGate, type LoadGate, type LoadLimits } from '../../adapters/a2a/load-gate.ts';
import type { EdgeProfile } from '../../core/ports/edge.ts';
import { type Labels, type Telemetry, withoutSpan } from '../../core/ports/telemetry.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { type ScriptedOperations, scriptedOperations } from './scripted-operations.ts';

export const PROFILE: EdgeProfile = {
  name: 'test',
  contextPolicy: 'parallel',
  waitMs: 60_000,
  streamDeadlineMs: 3_600_000,
  messageAnswers: true,
  subscribeEnds: 'terminal',
  subscribeFinished: 'error',
  lastEventId: true,
};

export const OWNER = { tenant: 'jwt:https://issuer.test:t1', principal: 'alice', agent: 'agent' };

/** Everybody is alice. */
export function edgeOf(changes: Partial<Edge> & { readonly session?: Partial<Session> } = {}): Edge {
  const { session, ...edge } = changes;
  return {
    name: 'test',
    profile: PROFILE,
    defaultVersion: '0.3',
    versions: ['1.0', '0.3'],
    streaming: true,
    authenticate: async () => ({
      caller: { owner: OWNER },
      tenant: 't1',
      prepare: ({ params }) => ({ params, deadlineMs: 86_400_000 }),
      ...session,
    }),
    ...edge,
  };
}

/** With these limits, and the default ones otherwise; what it counts goes nowhere unless told. */
export function gateOf(limits: Partial<LoadLimits> = {}, count: Telemetry['count'] = () => {}): LoadGate {
  return createLoadGate({ limits, telemetry: { count, gauge() {} } });
}

/** Stands still, and says how many timers wait: a condition to wait for before time is moved. */
export interface CountingClock extends ManualClock {
  waiting(): number;
}

export interface LoggedEvent {
  readonly level: string;
  readonly name: string;
  readonly error: unknown;
}

export interface Served {
  readonly origin: string;
  readonly port: number;
  readonly server: Server;
  readonly operations: ScriptedOperations;
  readonly clock: CountingClock;
  readonly events: LoggedEvent[];
  /** Labels of what was counted, by metric. */
  readonly counts: Map<string, Labels[]>;
  readonly shutdown: AbortController;
}

/** A real server on a free port with the endpoint at /a2a and /a2a/v1; everything else is a plain 404. */
export async function serve(
  context: TestContext,
  options: Partial<Omit<EndpointOptions, 'operations'>> & {
    readonly operations?: ScriptedOperations;
    /** Is told of each request, and of what its endpoint answered with. */
    readonly watch?: (request: IncomingMessage, answered: Promise<void>) => void;
  } = {},
): Promise<Served> {
  const operations = options.operations ?? scriptedOperations();
  const clock = countingClock();
  const shutdown = new AbortController();
  const events: LoggedEvent[] = [];
  const counts = new Map<string, Labels[]>();
  const endpoint = createA2AEndpoint({
    path: '/a2a',
    httpJsonPath: '/a2a/v1',
    edge: edgeOf(),
    telemetry: recordingTelemetry(events, counts),
    clock,
    shutdown: shutdown.signal,
    ...options,
    operations,
  });
  const server = createServer((request, response) => {
    const answered = endpoint(request, response);
    if (answered === undefined) response.writeHead(404).end('Not Found');
    else options.watch?.(request, answered);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, port, server, operations, clock, events, counts, shutdown };
}

export function countingClock(): CountingClock {
  const clock = createManualClock();
  const timers = new Set<object>();
  return {
    ...clock,
    timer(ms, callback) {
      const timer = {};
      timers.add(timer);
      const cancel = clock.timer(ms, () => {
        timers.delete(timer);
        callback();
      });
      return () => {
        timers.delete(timer);
        cancel();
      };
    },
    waiting: () => timers.size,
  };
}

export function recordingTelemetry(events: LoggedEvent[], counts: Map<string, Labels[]>): Telemetry {
  return {
    event: (level, name, _fields, error) => events.push({ level, name, error }),
    count: (metric, labels = {}) => counts.set(metric, [...(counts.get(metric) ?? []), labels]),
    gauge() {},
    observe() {},
    span: withoutSpan,
  };
}
