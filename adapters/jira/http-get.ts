import pTimeout, { TimeoutError } from 'p-timeout';
import type { Clock } from '../../core/ports/clock.ts';

interface HttpGet {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** `body` is the parsed JSON of a 200, absent when it was too large or no JSON. No answer at all: `cause` says why. */
export type HttpAnswer =
  | { readonly status: number; readonly headers: Headers; readonly body?: unknown }
  | { readonly status: 0; readonly headers?: undefined; readonly cause: unknown };

/**
 * One authorized GET, without redirects: the token is meant for this very URL. Rejects only when the signal was
 * aborted.
 */
export async function httpGet(url: URL, token: string, options: HttpGet): Promise<HttpAnswer> {
  const { clock, signal } = options;
  const giveUp = new AbortController();
  try {
    return await pTimeout(exchange(url, token, { ...options, signal: AbortSignal.any([signal, giveUp.signal]) }), {
      milliseconds: options.timeoutMs,
      customTimers: timers(clock),
    });
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof TimeoutError) giveUp.abort(cause);
    return { status: 0, cause };
  }
}

async function exchange(url: URL, token: string, { fetch, signal, maxBytes }: HttpGet): Promise<HttpAnswer> {
  const response = await fetch(url, {
    redirect: 'manual',
    signal,
    headers: { accept: 'application/json', authorization: `Bearer ${token}` },
  });
  const { status, headers } = response;
  if (status !== 200) {
    await response.body?.cancel();
    return { status, headers };
  }
  const text = await readText(response, maxBytes);
  try {
    return text === undefined ? { status, headers } : { status, headers, body: JSON.parse(text) as unknown };
  } catch {
    return { status, headers };
  }
}

/** Undefined when the body is larger than `maxBytes`, counted after decompression. */
async function readText(response: Response, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Timeouts run on the given clock like everything else. */
function timers(clock: Clock): { setTimeout: typeof setTimeout; clearTimeout: typeof clearTimeout } {
  return {
    setTimeout: ((callback: () => void, ms: number) => clock.timer(ms, callback)) as unknown as typeof setTimeout,
    clearTimeout: ((cancel: (() => void) | undefined) => cancel?.()) as unknown as typeof clearTimeout,
  };
}
