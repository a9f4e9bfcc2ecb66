import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2';
import { Metadata } from '@grpc/grpc-js';
import { type Ended, endOf } from './grpc.ts';

/** A call that is made by hand over HTTP/2, for what no gRPC client does. */
export interface RawGrpc {
  readonly session: ClientHttp2Session;
  readonly stream: ClientHttp2Stream;
  send(message: Uint8Array, options?: { readonly compressed?: boolean }): void;
  /** Code UNKNOWN when it was broken off. */
  ended(): Promise<Ended>;
  /** Of RST_STREAM, once it is closed. */
  readonly rstCode: number | undefined;
}

export async function openGrpc(
  t: { after(work: () => void): void },
  port: number,
  method: string,
  headers: Readonly<Record<string, string | string[]>>,
): Promise<RawGrpc> {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => undefined);
  t.after(() => session.destroy());
  const stream = session.request(
    {
      ':method': 'POST',
      ':path': `/lf.a2a.v1.A2AService/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      'a2a-version': '1.0',
      ...headers,
    },
    { endStream: false },
  );
  stream.on('error', () => undefined);
  let last: IncomingHttpHeaders = {};
  stream.on('response', (response) => {
    last = response;
  });
  stream.on('trailers', (trailers) => {
    last = trailers;
  });
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  return {
    session,
    stream,
    send: (message, { compressed = false } = {}) => {
      const prefix = Buffer.alloc(5);
      prefix[0] = compressed ? 1 : 0;
      prefix.writeUInt32BE(message.length, 1);
      stream.write(Buffer.concat([prefix, message]));
    },
    ended: async () => {
      stream.resume();
      await closed;
      const code = Number(last['grpc-status'] ?? 2);
      return endOf({
        code,
        details: decodeURI(String(last['grpc-message'] ?? '')),
        metadata: Metadata.fromHttp2Headers(last),
      });
    },
    get rstCode() {
      return stream.closed ? stream.rstCode : undefined;
    },
  };
}
