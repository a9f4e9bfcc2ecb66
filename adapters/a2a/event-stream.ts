import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/ports/clock.ts';
import type { Stop } from '../../core/ports/stop.ts';
import type { Rounds } from '../../core/runtime/rounds.ts';
import { endWith, firstEvent } from './response-events.ts';

/*
 * Writes one event stream to a raw response. Invariants: an event is one `data:` line in one write, with those that need not
 * be waited for behind it, so nothing can end in the middle of it; a comment goes out on every beat, also before the first
 * event; what a reader does not take waits in the socket's buffer and nowhere else, and a reader that takes nothing is cut.
 * Errors before the first event are answered as plain JSON by the caller, later ones as a last event.
 */

export interface StreamFrame {
  /** In the form of the binding. */
  readonly json: string;
  /** The event's number within its task; the SSE id. */
  readonly sequence: number | undefined;
}

export interface StreamSource {
  /** Undefined: the stream is over. */
  next(): Promise<StreamFrame | undefined>;
  /** The next one, if it need not be waited for; `over`: none follows. */
  ready(): StreamFrame | 'over' | undefined;
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

export type StreamEnd =
  | { readonly reason: 'failed'; readonly error: unknown }
  | { readonly reason: 'complete' | 'stopped' | 'slow-reader' };

type Opened = 'open' | { readonly refused: unknown };

/** What has to give a sign of life. */
export interface Beating {
  beat(): void;
}

interface EventStreamOptions {
  readonly response: ServerResponse;
  readonly source: StreamSource;
  /** Ends it cleanly between two events. */
  readonly signal: Stop;
  readonly clock: Clock;
  readonly times: StreamTimes;
  /** Of all streams. */
  readonly heartbeats: Rounds<Beating>;
  /** Makes the event that reports an error. */
  readonly lastEvent: (error: unknown) => { readonly json: string; readonly event?: string };
  /** Called when an open stream is over; what it is given resolves when all of it is written out. */
  readonly ended: (end: Promise<StreamEnd>) => void;
}

/** The line that the strictest known client drops begins one character later. */
const MAX_LINE_CHARS = 65_535;

/** No more is gathered for one write, so that a slow reader is noticed as early as the socket notices it. */
const WRITE_CHARS = 16_384;

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};
const COMMENT = ': \n\n';
const LINE_BREAKS = /[\u0085\u2028\u2029]/g;

/**
 * Resolves as soon as the stream is open, or when an error came before: then nothing was written. The source is closed in
 * any case and not waited for.
 */
export function writeEventStream(options: EventStreamOptions): Promise<Opened> {
  return new Promise((resolve) => new EventStream(options, resolve).pull());
}

/**
 * No async function: one that waits for the next event, and whoever waits for it, would be kept for as long as nothing
 * happens.
 */
class EventStream implements Beating {
  private readonly options: EventStreamOptions;
  private tellOpened: ((opened: Opened) => void) | undefined;
  private cancelOpening: (() => void) | undefined;
  private blocked = false;
  private over = false;
  private readonly stop = (): void => this.end({ reason: 'stopped' });

  constructor(options: EventStreamOptions, tellOpened: (opened: Opened) => void) {
    const { response, signal, clock, times } = options;
    this.options = options;
    this.tellOpened = tellOpened;
    this.cancelOpening = clock.timer(times.openAfterMs, () => {
      this.open();
      this.beat();
    });
    // A socket that breaks under a write says so here as well as by closing, and closing is what is listened to.
    response.on('error', ignore);
    signal.addEventListener('abort', this.stop);
  }

  beat(): void {
    const { response } = this.options;
    if (!this.blocked && !response.destroyed) response.write(COMMENT);
  }

  pull(): void {
    const { source, signal } = this.options;
    if (signal.aborted) {
      this.end({ reason: 'stopped' });
      return;
    }
    source
      .next()
      .then((frame) => this.take(frame))
      .catch((error: unknown) => this.fail(error));
  }

  private take(frame: StreamFrame | undefined): Promise<void> | void {
    const { response } = this.options;
    if (this.over) return;
    if (response.destroyed) return this.end({ reason: 'stopped' });
    if (frame === undefined) return this.end({ reason: 'complete' });
    const { text, end } = this.gather(frame);
    if (end) return this.end(end, text);
    this.open();
    if (!response.write(text) && !response.destroyed) return this.drain();
    this.pull();
  }

  /** The events from this one on that need not be waited for, and how the stream ends with them, if it does. */
  private gather(first: StreamFrame): { readonly text: string; readonly end?: StreamEnd } {
    let text = '';
    try {
      for (let step: ReturnType<StreamSource['ready']> = first; step; step = this.options.source.ready()) {
        if (step === 'over') return { text, end: { reason: 'complete' } };
        text += eventText(step);
        if (text.length >= WRITE_CHARS) break;
      }
    } catch (error) {
      return { text, end: { reason: 'failed', error } };
    }
    return { text };
  }

  /** Goes on as soon as there is room for the next event. */
  private async drain(): Promise<void> {
    const { response, clock, times, signal } = this.options;
    this.blocked = true;
    const event = await firstEvent(response, ['drain', 'close'], { clock, ms: times.drainMs, signal });
    this.blocked = false;
    if (this.over) return;
    if (event === undefined) this.end({ reason: 'slow-reader' });
    else this.pull();
  }

  private fail(error: unknown): void {
    const { response } = this.options;
    if (this.over) return;
    if (response.destroyed) this.end({ reason: 'stopped' });
    else if (response.headersSent) this.end({ reason: 'failed', error });
    else this.letGo()?.({ refused: error });
  }

  /** `whole`: all that there will be. A body of known length is one write together with its head. */
  private open(whole?: string): void {
    const { response, heartbeats } = this.options;
    const { tellOpened } = this;
    if (tellOpened === undefined) return;
    this.tellOpened = undefined;
    this.cancelOpening?.();
    this.cancelOpening = undefined;
    if (!response.headersSent && !response.destroyed) {
      if (whole === undefined) response.writeHead(200, HEADERS);
      else response.writeHead(200, { 'Content-Length': Buffer.byteLength(whole), ...HEADERS });
    }
    if (whole === undefined) heartbeats.add(this);
    tellOpened('open');
  }

  /** `text`: what goes out before. */
  private end(end: StreamEnd, text = ''): void {
    if (this.over) return;
    this.open(end.reason === 'complete' && text !== '' ? text : undefined);
    this.letGo();
    this.options.ended(this.finish(end, text));
  }

  /** Nothing comes any more. */
  private letGo(): typeof this.tellOpened {
    const { source, signal, heartbeats } = this.options;
    this.over = true;
    this.cancelOpening?.();
    heartbeats.remove(this);
    signal.removeEventListener('abort', this.stop);
    // A source that waits answers only when its own signal has reached it; nobody has to wait for that.
    source.close().catch(ignore);
    return this.tellOpened;
  }

  private async finish(end: StreamEnd, text: string): Promise<StreamEnd> {
    const { response, clock, times, lastEvent } = this.options;
    if (end.reason === 'slow-reader') {
      response.destroy();
      return end;
    }
    let last = text;
    if (end.reason === 'failed') {
      const { json, event } = lastEvent(end.error);
      last += `${event === undefined ? '' : `event: ${event}\n`}${dataLine(json)}\n\n`;
    }
    // A stream that is over has all the time that a reader has; one that is ended by us ends, for a slow one as well.
    await endWith(response, last, { clock, ms: end.reason === 'stopped' ? times.lingerMs : times.drainMs });
    return end;
  }
}

/** In no closure, because it stays with the response. */
function ignore(): void {}

function dataLine(json: string): string {
  return `data: ${json.replace(LINE_BREAKS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}`;
}

function eventText({ json, sequence }: StreamFrame): string {
  const line = dataLine(json);
  if (line.length > MAX_LINE_CHARS) throw new RangeError(`an event of ${line.length} characters`);
  return sequence === undefined ? `${line}\n\n` : `id: ${sequence}\n${line}\n\n`;
}
