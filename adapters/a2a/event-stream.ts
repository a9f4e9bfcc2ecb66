import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/ports/clock.ts';
import { nextStep } from './next-step.ts';

/*
 * Writes one event stream to a raw response. Invariants: an event is one write of one `data:` line, so nothing can end
 * in the middle of it; a comment goes out on every beat, also before the first event; what a reader does not take waits
 * in the socket's buffer and nowhere else, and a reader that takes nothing is cut. Errors before the first event are
 * answered as plain JSON by the caller, later ones as a last event.
 */

interface StreamFrame {
  /** In the form of the binding. */
  readonly json: string;
  /** The event's number within its task; the SSE id. */
  readonly sequence: number | undefined;
}

export interface StreamSource {
  /** Undefined: the stream is over. */
  next(): Promise<StreamFrame | undefined>;
  close(): Promise<void>;
}

export interface StreamTimes {
  /**
   * Between two comment lines. Proxies cut quiet connections after 60 s, Jira wants a line every 15 s, and the Python
   * client leaves after 5 s without a byte unless its user has set another timeout.
   */
  readonly heartbeatMs: number;
  /** A stream whose first frame is not there by then is opened all the same. */
  readonly openAfterMs: number;
  /** How long a reader may leave a full buffer untouched. */
  readonly drainMs: number;
  /** How long the reader of a stream that we end may take for what is on its way. */
  readonly lingerMs: number;
}

type StreamEnd =
  /** Nothing was written: answer with the error as plain JSON. */
  | { readonly reason: 'refused'; readonly error: unknown }
  | { readonly reason: 'failed'; readonly error: unknown }
  | { readonly reason: 'complete' | 'stopped' | 'slow-reader' };

/** The line that the strictest known client drops begins one character later. */
const MAX_LINE_CHARS = 65_535;

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};
const COMMENT = ': \n\n';
const LINE_BREAKS = /[\u0085\u2028\u2029]/g;

/**
 * Resolves when the stream is over and written out. `signal` ends it cleanly between two events; the source is closed
 * in any case and not waited for. `lastEvent` makes the event that reports an error.
 */
export async function writeEventStream(options: {
  readonly response: ServerResponse;
  readonly source: StreamSource;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly times: StreamTimes;
  readonly lastEvent: (error: unknown) => { readonly json: string; readonly event?: string };
}): Promise<StreamEnd> {
  const { response, source, signal, clock, times } = options;
  let blocked = false;
  let stopBeating = clock.timer(times.openAfterMs, () => {
    open();
    comment();
  });
  // A socket that breaks under a write says so here as well as by closing, and closing is what is listened to.
  response.on('error', () => undefined);

  function open(): void {
    if (response.headersSent || response.destroyed) return;
    stopBeating();
    response.writeHead(200, HEADERS);
    beat();
  }

  function beat(): void {
    stopBeating = clock.timer(times.heartbeatMs, () => {
      comment();
      beat();
    });
  }

  function comment(): void {
    if (!blocked && !response.destroyed) response.write(COMMENT);
  }

  /** Resolves when there is room for the next event, or when the signal says that none will be written. */
  async function write(text: string): Promise<'written' | 'slow-reader' | 'stopped'> {
    if (response.destroyed || response.write(text)) return 'written';
    blocked = true;
    const event = await firstEvent(response, ['drain', 'close'], { clock, ms: times.drainMs, signal });
    blocked = false;
    if (event === 'abort') return 'stopped';
    return event === undefined ? 'slow-reader' : 'written';
  }

  async function pump(): Promise<StreamEnd> {
    for (;;) {
      const step = await nextStep(source, signal);
      if (signal.aborted || response.destroyed) return { reason: 'stopped' };
      if ('error' in step) {
        return { reason: response.headersSent ? 'failed' : 'refused', error: step.error };
      }
      open();
      if (step.value === undefined) return { reason: 'complete' };
      const { json, sequence } = step.value;
      const line = dataLine(json);
      if (line.length > MAX_LINE_CHARS) {
        return { reason: 'failed', error: new RangeError(`an event of ${line.length} characters`) };
      }
      const wrote = await write(`${sequence === undefined ? '' : `id: ${sequence}\n`}${line}\n\n`);
      if (wrote !== 'written') return { reason: wrote };
    }
  }

  const end = await pump();
  // A source that waits answers only when its own signal has reached it; nobody has to wait for that.
  source.close().catch(() => undefined);
  if (end.reason === 'refused') {
    stopBeating();
    return end;
  }
  open();
  stopBeating();
  if (end.reason === 'slow-reader') {
    response.destroy();
    return end;
  }
  if (end.reason === 'failed') {
    const { json, event } = options.lastEvent(end.error);
    response.write(`${event === undefined ? '' : `event: ${event}\n`}${dataLine(json)}\n\n`);
  }
  // A stream that is over has all the time that a reader has; one that is ended by us ends, for a slow one as well.
  await finish(response, clock, end.reason === 'stopped' ? times.lingerMs : times.drainMs);
  return end;
}

function dataLine(json: string): string {
  return `data: ${json.replace(LINE_BREAKS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}`;
}

async function finish(response: ServerResponse, clock: Clock, ms: number): Promise<void> {
  if (response.destroyed) return;
  response.end();
  if (response.writableFinished) return;
  if ((await firstEvent(response, ['finish', 'close'], { clock, ms })) === undefined) response.destroy();
}

/** The first of these events, `abort` when the signal was before them, or undefined when none came in time. */
function firstEvent(
  response: ServerResponse,
  names: readonly string[],
  bound: { readonly clock: Clock; readonly ms: number; readonly signal?: AbortSignal },
): Promise<string | undefined> {
  const { signal } = bound;
  return new Promise((resolve) => {
    const settle = (name: string | undefined) => {
      cancel();
      signal?.removeEventListener('abort', stop);
      for (const [listened, listener] of listeners) response.off(listened, listener);
      resolve(name);
    };
    const stop = () => settle('abort');
    const cancel = bound.clock.timer(bound.ms, () => settle(undefined));
    signal?.addEventListener('abort', stop, { once: true });
    const listeners = names.map((name) => [name, () => settle(name)] as const);
    for (const [name, listener] of listeners) response.once(name, listener);
  });
}
