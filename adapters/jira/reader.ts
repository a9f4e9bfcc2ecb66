import { DomainError } from '../../core/errors.ts';
import type { JiraErrorReason } from '../../core/ports/agent.ts';
import { type Clock, pause } from '../../core/ports/clock.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { type ApiPath, apiBase, apiUrl } from './api-url.ts';
import type { Budget } from './budget.ts';
import { type HttpAnswer, httpGet } from './http-get.ts';
import { JiraError } from './jira-error.ts';
import { retryDelay } from './retry-delay.ts';

export interface JiraOptions {
  /** Of the tenant, from its verified token. A base that is not allowed makes every call `forbidden`. */
  readonly apiBaseUrl: string;
  /** Host, or host:port. A loopback host without a port allows every port. */
  readonly allowedHosts: readonly string[];
  /** The invoking user's token and its digest, looked up at each call. Undefined: there is none that is still good. */
  readonly token: () => Promise<{ readonly token: string; readonly hash: string } | undefined>;
  /** Markdown that tells the user how to authorize the app; the message of USER_TOKEN_REQUIRED. */
  readonly explainAuthorization: () => Promise<string> | string;
  readonly fetch?: typeof fetch;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Ends all calls and waits. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds after which nobody wants the answer. */
  readonly deadlineAt?: number;
  /** Shared by all tasks of the tenant. */
  readonly budget?: Budget;
  /** For one call including its body; 10 s by default. */
  readonly timeoutMs?: number;
  /** Of one answer; 4 MiB by default. */
  readonly maxBytes?: number;
  /** 0 up to 1, for the jitter. */
  readonly random?: () => number;
}

/** Reads one path and answers the parsed body of a 200. `call` is the name for logs and metrics. */
export type ReadJira = (call: string, path: ApiPath | undefined) => Promise<unknown>;

interface Asking {
  readonly token: string;
  /** From 1. */
  readonly attempt: number;
}

const MAX_ATTEMPTS = 4;
const MAX_WAIT_MS = 2 * 60_000;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** Nothing came back at all, or one of these: worth another try, since every call is a GET. */
const TRANSIENT = new Set([0, 429, 502, 503, 504]);
/** What may stand in a header. Anything else would show the token in an error text. */
const TOKEN = /^[\x21-\x7e]+$/;

function reasonOf(status: number): JiraErrorReason {
  if (status === 404) return 'not-found';
  if (status === 403) return 'forbidden';
  if (status === 429) return 'rate-limited';
  return status === 0 || status >= 500 ? 'unavailable' : 'invalid';
}

/**
 * Asks Jira as the invoking user. A refused token is tried once more when a fresher one is to be had, a transient
 * failure up to three times more, never past the deadline. Rejects with JiraError, with USER_TOKEN_REQUIRED, or with
 * the signal's reason.
 */
export function createReader(options: JiraOptions): ReadJira {
  const { clock, telemetry, signal } = options;
  const base = apiBase(options.apiBaseUrl, options.allowedHosts);
  const random = options.random ?? Math.random;
  const leftMs = () => Math.min(MAX_WAIT_MS, (options.deadlineAt ?? Number.POSITIVE_INFINITY) - clock.now());

  const refuse = (call: string, reason: JiraErrorReason, cause?: unknown): JiraError => {
    telemetry.count('a2a_jira_calls_total', { call, outcome: reason });
    return new JiraError(reason, cause);
  };
  const unauthorized = async (call: string, tokenHash: string): Promise<DomainError> => {
    telemetry.count('a2a_jira_calls_total', { call, outcome: 'unauthorized' });
    return new DomainError('USER_TOKEN_REQUIRED', await options.explainAuthorization(), { tokenHash });
  };
  /** True when it had to wait. */
  const spend = async (call: string): Promise<boolean> => {
    const waitMs = options.budget ? options.budget.reserve(Math.max(0, leftMs())) : 0;
    if (waitMs === undefined) throw refuse(call, 'rate-limited', 'budget of the tenant');
    if (waitMs > 0) await pause(clock, waitMs, signal);
    signal.throwIfAborted();
    return waitMs > 0;
  };
  const ask = async (call: string, url: URL, { token, attempt }: Asking): Promise<HttpAnswer> => {
    const timeoutMs = Math.min(options.timeoutMs ?? TIMEOUT_MS, leftMs());
    if (timeoutMs <= 0) throw refuse(call, 'unavailable', 'deadline');
    const began = clock.now();
    const answer = await telemetry.span('jira.call', { fields: () => ({ call, attempt }) }, async (span) => {
      const maxBytes = options.maxBytes ?? MAX_BYTES;
      const got = await httpGet(url, token, { fetch: options.fetch ?? fetch, clock, signal, timeoutMs, maxBytes });
      span.set({ status: got.status });
      return got;
    });
    telemetry.observe('a2a_jira_call_seconds', (clock.now() - began) / 1_000, { call });
    return answer;
  };

  return async (call, path) => {
    signal.throwIfAborted();
    if (base === undefined) throw refuse(call, 'forbidden', 'API base is not on the allow-list');
    const url = path && apiUrl(base, path);
    if (url === undefined) throw refuse(call, 'invalid', 'not a work item id, field or query');
    let held = await options.token();
    let renewed = false;
    for (let attempt = 1; ; attempt += 1) {
      // One that was looked up before the wait may have been replaced and revoked meanwhile.
      if (held && (await spend(call))) held = await options.token();
      if (held === undefined) throw await unauthorized(call, '');
      if (!TOKEN.test(held.token)) throw await unauthorized(call, held.hash);
      const answer = await ask(call, url, { token: held.token, attempt });
      const { status } = answer;
      if (status === 200) {
        if (!('body' in answer)) throw refuse(call, 'invalid', 'too large, or no JSON');
        telemetry.count('a2a_jira_calls_total', { call, outcome: 'ok' });
        return answer.body;
      }
      if (status === 401) {
        const fresh = renewed ? undefined : await options.token();
        if (fresh === undefined || fresh.hash === held.hash) throw await unauthorized(call, held.hash);
        held = fresh;
        renewed = true;
        continue;
      }
      const cause = 'cause' in answer ? answer.cause : `HTTP ${status}`;
      const delayMs = retryDelay({ headers: answer.headers, attempt, now: clock.now(), random });
      const again = TRANSIENT.has(status) && attempt < MAX_ATTEMPTS && delayMs < leftMs();
      telemetry.event(again ? 'info' : 'warn', 'jira.refused', {
        call,
        status,
        attempt,
        retryMs: again ? delayMs : undefined,
      });
      if (!again) throw refuse(call, reasonOf(status), cause);
      await pause(clock, delayMs, signal);
      signal.throwIfAborted();
      held = await options.token();
    }
  };
}
