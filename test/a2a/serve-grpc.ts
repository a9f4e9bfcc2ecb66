import type { TestContext } from 'node:test';
import { createGrpcEndpoint, type GrpcEndpointOptions } from '../../adapters/a2a/grpc-endpoint.ts';
import { createGrpcServer, type GrpcServer, type GrpcServerOptions } from '../../adapters/a2a/grpc-server.ts';
import type { Labels } from '../../core/ports/telemetry.ts';
import { type ScriptedOperations, scriptedOperations } from './scripted-operations.ts';
import { type CountingClock, countingClock, edgeOf, gateOf, type LoggedEvent, recordingTelemetry } from './serve.ts';

export interface GrpcServed {
  /** `host:port` */
  readonly address: string;
  readonly port: number;
  readonly server: GrpcServer;
  readonly operations: ScriptedOperations;
  readonly clock: CountingClock;
  readonly events: LoggedEvent[];
  /** Labels of what was counted, by metric. */
  readonly counts: Map<string, Labels[]>;
  readonly shutdown: AbortController;
}

/** A real server on a free port; everybody is alice unless the edge says otherwise. */
export async function serveGrpc(
  context: TestContext,
  options: Partial<GrpcEndpointOptions> & {
    readonly operations?: ScriptedOperations;
    readonly socket?: Partial<GrpcServerOptions>;
  } = {},
): Promise<GrpcServed> {
  const { socket, operations = scriptedOperations(), ...changes } = options;
  const clock = countingClock();
  const shutdown = new AbortController();
  const events: LoggedEvent[] = [];
  const counts = new Map<string, Labels[]>();
  const telemetry = recordingTelemetry(events, counts);
  const server = createGrpcServer({ maxBodyBytes: 5 * 1_024 * 1_024, ...socket });
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  context.after(() => server.close(0));
  const endpoint = createGrpcEndpoint({
    ...{ edge: edgeOf(), telemetry, clock, shutdown: shutdown.signal, gate: gateOf() },
    ...changes,
    operations,
  });
  server.serve(endpoint);
  return { address: `127.0.0.1:${port}`, port, server, operations, clock, events, counts, shutdown };
}
