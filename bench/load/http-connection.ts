import { connect, type Socket } from 'node:net';

/**
 * What came back for one request. The body is whole, chunk framing included when the server streamed. It lies where the
 * next read of the connection will: whoever wants it longer than until the next turn of the event loop copies it.
 */
export interface Reply {
  readonly status: number;
  readonly body: Buffer;
}

const HEADER_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const READ_BYTES = 65_536;
const NOTHING = Buffer.alloc(0);

interface Head {
  readonly status: number;
  readonly bodyStart: number;
  /** Absent: chunked. */
  readonly length?: number;
}

const LENGTH = /\r\ncontent-length: *(\d+)/i;

function readHead(buffer: Buffer): Head | undefined {
  const end = buffer.indexOf(HEADER_END);
  if (end < 0) return undefined;
  const text = buffer.toString('latin1', 0, end);
  const length = LENGTH.exec(text)?.[1];
  return {
    status: Number(text.slice(9, 12)),
    bodyStart: end + HEADER_END.length,
    ...(length === undefined ? {} : { length: Number(length) }),
  };
}

/**
 * One keep-alive connection, one request at a time, and as little work for each as can be: a load generator on the same
 * two cores must not be what is measured. It understands Content-Length and chunked bodies, nothing else.
 */
export class HttpConnection {
  private socket: Socket | undefined;
  /** What came of an answer that is not whole yet. */
  private received: Buffer = NOTHING;
  private head: Head | undefined;
  private settle: { resolve(reply: Reply): void; reject(error: Error): void } | undefined;
  private readonly host: string;
  private readonly port: number;

  constructor(host: string, port: number) {
    this.host = host;
    this.port = port;
  }

  /** Else the first request does it. */
  async connect(): Promise<void> {
    await this.open();
  }

  async request(text: string): Promise<Reply> {
    const socket = this.socket ?? (await this.open());
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      socket.write(text);
    });
  }

  close(): void {
    this.socket?.destroy();
    this.socket = undefined;
  }

  private open(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      // One buffer for all reads: a stream of chunks costs as much as all the rest of an answer.
      const onread = {
        buffer: Buffer.allocUnsafe(READ_BYTES),
        callback: (bytes: number, buffer: Uint8Array): boolean => {
          this.onData(buffer as Buffer, bytes);
          return true;
        },
      };
      const socket = connect({ port: this.port, host: this.host, noDelay: true, onread }, () => {
        this.socket = socket;
        resolve(socket);
      });
      const lost = (error?: Error): void => {
        this.socket = undefined;
        this.received = NOTHING;
        this.head = undefined;
        const failure = error ?? new Error('the connection was closed');
        this.settle?.reject(failure);
        this.settle = undefined;
        reject(failure);
      };
      socket.on('error', lost);
      socket.on('close', () => lost());
    });
  }

  private onData(buffer: Buffer, bytes: number): void {
    const chunk = buffer.subarray(0, bytes);
    const received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    this.head ??= readHead(received);
    const { head } = this;
    if (!head || !isWhole(received, head)) {
      this.received = received === chunk ? Buffer.from(chunk) : received;
      return;
    }
    this.received = NOTHING;
    this.head = undefined;
    const { settle } = this;
    this.settle = undefined;
    settle?.resolve({ status: head.status, body: received.subarray(head.bodyStart) });
  }
}

function isWhole(received: Buffer, { bodyStart, length }: Head): boolean {
  return length === undefined
    ? received.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
    : received.length >= bodyStart + length;
}
