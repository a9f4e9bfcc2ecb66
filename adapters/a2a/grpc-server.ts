import type { Buffer } from 'node:buffer';
import { isIPv6 } from 'node:net';
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  logVerbosity,
  type MethodDefinition,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServiceDefinition,
  setLogVerbosity,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { overloadedError } from './admission.ts';
import { GRPC_METHODS } from './grpc-codec.ts';
import type { GrpcEndpoint } from './grpc-endpoint.ts';
import { statusOf } from './grpc-status.ts';

/*
 * The port of gRPC: HTTP/2 in clear, like the HTTP port; TLS is ended in front of both. Messages pass as bytes, so that
 * what cannot be read is answered by the endpoint and not by the library.
 */

export interface GrpcServer {
  /** Rejects with an Error that says why the port cannot be had. Answers the port. Calls are refused until it serves. */
  listen(address: { readonly host: string; readonly port: number }): Promise<number>;
  serve(endpoint: GrpcEndpoint): void;
  /** Takes no new connection and no new call; running ones go on. */
  refuse(): void;
  /** Resolves when the last call is over; those that run after `graceMs` are cut. */
  close(graceMs: number): Promise<void>;
}

export interface GrpcServerOptions {
  readonly maxBodyBytes: number;
  /** A connection that has shown no sign of life for this long is asked for one … */
  readonly keepAliveMs?: number;
  /** … and closed when it gives none for this long. */
  readonly keepAliveTimeoutMs?: number;
}

const IDLE_CONNECTION_MS = 300_000;
/** A client's library waits with what is above. */
const CALLS_PER_CONNECTION = 10_000;

export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  // It would print headers that it cannot read, tokens among them. Whatever matters reaches us as an error.
  setLogVerbosity(logVerbosity.NONE);
  let endpoint: GrpcEndpoint | undefined;
  // Channelz stays on: without it the library does not know the connections that forceShutdown has to cut.
  const server = new Server({
    'grpc.max_receive_message_length': options.maxBodyBytes,
    'grpc.max_send_message_length': -1,
    'grpc.max_concurrent_streams': CALLS_PER_CONNECTION,
    'grpc.max_connection_idle_ms': IDLE_CONNECTION_MS,
    'grpc.keepalive_time_ms': options.keepAliveMs ?? 30_000,
    'grpc.keepalive_timeout_ms': options.keepAliveTimeoutMs ?? 20_000,
    interceptors: [({ path }, call) => (endpoint ? endpoint.intercept(path, call) : notYet(call))],
  });
  server.addService(...serviceOf(() => endpoint));
  let closed: Promise<void> | undefined;
  const refuse = (): Promise<void> => {
    if (closed === undefined) {
      // A connection that takes no new call cannot be asked for a sign of life any more: HTTP/2 cancels the question at once,
      // which the library takes for a dead client, and cuts the calls that are waited for. It has no other switch for that.
      Object.assign(server, { keepaliveTimeMs: 0 });
      closed = new Promise((resolve) => server.tryShutdown(() => resolve()));
    }
    return closed;
  };
  return {
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        const address = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
        server.bindAsync(address, ServerCredentials.createInsecure(), (error, bound) => {
          if (error) reject(error);
          else resolve(bound);
        });
      }),
    serve: (next) => {
      endpoint = next;
    },
    refuse: () => void refuse(),
    close: async (graceMs) => {
      const all = refuse();
      const cut = setTimeout(() => server.forceShutdown(), graceMs);
      await all;
      clearTimeout(cut);
    },
  };
}

function notYet(call: ServerInterceptingCallInterface): ServerInterceptingCall {
  return new ServerInterceptingCall(call, {
    start: (next) => next({ onReceiveMetadata: () => call.sendStatus(statusOf(overloadedError())) }),
  });
}

function serviceOf(endpoint: () => GrpcEndpoint | undefined): [ServiceDefinition, UntypedServiceImplementation] {
  const definition: Record<string, MethodDefinition<Buffer, Buffer>> = {};
  const implementation: UntypedServiceImplementation = {};
  const same = (bytes: Buffer): Buffer => bytes;
  for (const method of GRPC_METHODS) {
    const { name, path, streams } = method;
    definition[name] = {
      path,
      requestStream: false,
      responseStream: streams,
      ...{ requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same },
    };
    const answer: handleUnaryCall<Buffer, Buffer> = (call, respond) => endpoint()?.answer(method, call, respond);
    const stream: handleServerStreamingCall<Buffer, Buffer> = (call) => endpoint()?.stream(method, call);
    implementation[name] = streams ? stream : answer;
  }
  return [definition, implementation];
}
