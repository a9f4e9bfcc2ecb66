import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isObject, parseJson } from '../json.ts';
import { limitedSignal } from '../limited-signal.ts';
import { JIRA_LIMITS } from '../limits.ts';
import type { Message, RpcError, StreamResponse, Task, TaskState } from './a2a.ts';
import type { CallOptions, Calls } from './calls.ts';
import { readEnvelope } from './envelope.ts';
import { type Exchange, readText } from './exchange.ts';
import { createReassembly } from './reassembly.ts';
import { readSse } from './sse.ts';

export interface StreamOptions extends CallOptions {
  readonly id?: string | number;
  /** Kills the connection after that many events: Jira's network is not better than others. */
  readonly cutAfterFrames?: number;
  readonly limitMs?: number;
  onFrame?(frame: StreamResponse, task: Task | undefined): void;
}

export interface StreamedFrame {
  readonly frame: StreamResponse;
  /** SSE id. */
  readonly id?: string;
  /** Characters of the data line. */
  readonly chars: number;
  readonly atMs: number;
}

export interface StreamResult {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** False when a plain JSON answer came instead: see `error`, `text`. */
  readonly streamed: boolean;
  readonly text: string;
  readonly frames: readonly StreamedFrame[];
  readonly comments: number;
  readonly error?: RpcError;
  /** The task as this stream alone shows it. */
  readonly task?: Task;
  readonly message?: Message;
  readonly states: readonly TaskState[];
  readonly faults: readonly string[];
  /** The longest time in which not a byte came, from the request to the end. */
  readonly maxSilenceMs: number;
  readonly elapsedMs: number;
  /** Who ended it: the agent, the planned cut, Jira's limit (or the caller's signal), or a lost connection. */
  readonly end: 'agent' | 'cut' | 'limit' | 'lost';
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** SendStreamingMessage or SubscribeToTask: opens the stream and reads it to its end, whatever that is. */
export async function readStream(
  calls: Calls,
  call: { readonly method: string; readonly params: unknown },
  options: StreamOptions = {},
): Promise<StreamResult> {
  const id = options.id ?? randomUUID();
  const limit = limitedSignal(options.limitMs ?? calls.timeScale.deadline(JIRA_LIMITS.streamMs), options.signal);
  const { signal } = limit;
  const body = JSON.stringify({ jsonrpc: '2.0', id, ...call });
  const startedAt = performance.now();
  const opened: { answer?: Exchange } = {};
  const faults: string[] = [];
  const reading = createReading(startedAt);
  let end: StreamResult['end'] = 'agent';
  try {
    const ask = { url: options.url ?? calls.url, body, accept: 'text/event-stream' };
    const answer = await calls.open(ask, { ...options, signal });
    opened.answer = answer;
    reading.touch();
    if (!String(answer.headers['content-type']).startsWith('text/event-stream')) {
      const text = await readText(answer.body);
      return plainAnswer(answer, { text, id, elapsedMs: performance.now() - startedAt });
    }
    faults.push(...headerFaults(answer));
    end = await reading.readAll(answer, { ...options, id });
  } catch (error) {
    if (opened.answer === undefined && !signal.aborted) throw error;
    end = signal.aborted ? 'limit' : 'lost';
  } finally {
    limit.clear();
    opened.answer?.destroy();
  }
  reading.touch();
  const base = { status: opened.answer?.status ?? 0, headers: opened.answer?.headers ?? {}, streamed: true, text: '' };
  return {
    ...base,
    ...reading.result(),
    faults: [...faults, ...reading.faults],
    elapsedMs: performance.now() - startedAt,
    end,
  };
}

function headerFaults(answer: Exchange): readonly string[] {
  const faults: string[] = [];
  if (answer.status !== 200) faults.push(`HTTP ${answer.status}`);
  if (answer.headers['content-encoding']) faults.push(`a compressed stream (${answer.headers['content-encoding']})`);
  return faults;
}

function plainAnswer(
  answer: Exchange,
  read: { readonly text: string; readonly id: unknown; readonly elapsedMs: number },
): StreamResult {
  const envelope = readEnvelope(read.text, { id: read.id });
  const odd = envelope.error ? [] : ['plain JSON without an error where a stream belongs'];
  return {
    status: answer.status,
    headers: answer.headers,
    streamed: false,
    text: read.text,
    frames: [],
    comments: 0,
    ...(envelope.error ? { error: envelope.error } : {}),
    states: [],
    // Behind another status Jira's client never looks at the body.
    faults: answer.status === 200 ? [...envelope.faults, ...odd] : [`HTTP ${answer.status}`],
    maxSilenceMs: read.elapsedMs,
    elapsedMs: read.elapsedMs,
    end: 'agent',
  };
}

interface Reading {
  readonly faults: string[];
  touch(): void;
  readAll(answer: Exchange, options: StreamOptions): Promise<'agent' | 'cut'>;
  result(): Pick<StreamResult, 'frames' | 'comments' | 'task' | 'message' | 'error' | 'states' | 'maxSilenceMs'>;
}

function createReading(startedAt: number): Reading {
  const faults: string[] = [];
  const frames: StreamedFrame[] = [];
  const reassembly = createReassembly();
  let comments = 0;
  let error: RpcError | undefined;
  let lastAt = startedAt;
  let maxSilenceMs = 0;

  const touch = (): void => {
    const now = performance.now();
    maxSilenceMs = Math.max(maxSilenceMs, now - lastAt);
    lastAt = now;
  };

  const takeEvent = (data: string, sseId: string | undefined, options: StreamOptions): void => {
    const isError = isObject(parseJson(data)) && Object.hasOwn(parseJson(data) as object, 'error');
    const envelope = readEnvelope(data, { id: options.id, ...(isError ? {} : { result: 'StreamResponse' as const }) });
    faults.push(...envelope.faults);
    error = envelope.error ?? error;
    if (!isObject(envelope.result)) return;
    const frame = envelope.result as StreamResponse;
    const atMs = performance.now() - startedAt;
    frames.push({ frame, chars: data.length, atMs, ...(sseId === undefined ? {} : { id: sseId }) });
    faults.push(...reassembly.apply(frame));
    options.onFrame?.(frame, reassembly.task());
  };

  return {
    faults,
    touch,
    async readAll(answer, options) {
      for await (const item of readSse(answer.body, touch)) {
        if (item.kind === 'comment') comments += 1;
        else if (item.kind === 'fault') faults.push(item.detail);
        else takeEvent(item.data, item.id, options);
        if (frames.length >= (options.cutAfterFrames ?? Number.POSITIVE_INFINITY)) return 'cut';
      }
      return 'agent';
    },
    result() {
      const seen: Mutable<ReturnType<Reading['result']>> = {
        frames,
        comments,
        states: reassembly.states(),
        maxSilenceMs,
      };
      const task = reassembly.task();
      const message = reassembly.message();
      if (task) seen.task = task;
      if (message) seen.message = message;
      if (error) seen.error = error;
      return seen;
    },
  };
}
