import { connect, type Socket } from 'node:net';

/** What came back for one request. The body is whole, chunk framing included when the server streamed. */
export interface Reply {
  readonly status: number;
  readonly body: Buffer;
}

const HEADER_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

interface Head {
  readonly status: number;
  readonly bodyStart: number;
  /** Absent: chunked. */
  readonly length?: number;
}

function readHead(buffer: Buffer): Head | undefined {
  const end = buffer.indexOf(HEADER_END);
  if (end < 0) return undefined;
  const text = buffer.toString('latin1', 0, end).toLowerCase();
  const length = /\r\ncontent-length: *(\d+)/.exec(text)?.[1];
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
  private received: Buffer = Buffer.alloc(0);
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

  async request(bytes: Buffer): Promise<Reply> {
    const socket = this.socket ?? (await this.open());
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      socket.write(bytes);
    });
  }

  close(): void {
    this.socket?.destroy();
    this.socket = undefined;
  }

  private open(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.port, this.host, () => {
        this.socket = socket;
        resolve(socket);
      });
      socket.setNoDelay(true);
      socket.on('data', (chunk) => this.onData(chunk));
      const lost = (error?: Error): void => {
        this.socket = undefined;
        this.received = Buffer.alloc(0);
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

  private onData(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    this.head ??= readHead(this.received);
    const { head } = this;
    if (!head) return;
    const whole =
      head.length === undefined
        ? this.received.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
        : this.received.length >= head.bodyStart + head.length;
    if (!whole) return;
    const reply = { status: head.status, body: this.received.subarray(head.bodyStart) };
    this.received = Buffer.alloc(0);
    this.head = undefined;
    const { settle } = this;
    this.settle = undefined;
    settle?.resolve(reply);
  }
}
