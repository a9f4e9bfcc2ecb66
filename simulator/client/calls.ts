import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ForgeApp } from '../forge/installation.ts';
import { mintInvocationToken, type TokenOptions } from '../forge/invocation-token.ts';
import type { KeyRing } from '../forge/key-ring.ts';
import { isObject } from '../json.ts';
import { limitedSignal } from '../limited-signal.ts';
import { JIRA_LIMITS, type TimeScale } from '../limits.ts';
import type { Site } from '../site/site.ts';
import type { Message, RpcError, Task } from './a2a.ts';
import { readEnvelope } from './envelope.ts';
import { type Exchange, exchange, readText } from './exchange.ts';
import type { MessageName } from './proto-fields.ts';

/** Whose OAuth token goes along: the usual one, a new one, none, or exactly this. */
export type UserToken = 'current' | 'fresh' | 'none' | { readonly token: string };

export interface CallOptions {
  /** Name of the person who acts. */
  readonly as?: string;
  /** Name of the site that the call comes from. */
  readonly site?: string;
  readonly userToken?: UserToken;
  /** Changes to the invocation token. */
  readonly invocationToken?: TokenOptions;
  /** The whole Authorization header instead of an invocation token; null sends none. */
  readonly authorization?: string | null;
  /** `A2A-Version`; null sends none. */
  readonly a2aVersion?: string | null;
  /** Added last. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly signal?: AbortSignal;
}

export interface RpcOptions extends CallOptions {
  /** JSON-RPC id; a new uuid by default. */
  readonly id?: string | number | null;
  /** Sent as it is, instead of the envelope. */
  readonly body?: string | Uint8Array;
  readonly limitMs?: number;
}

export interface RpcAnswer {
  /** HTTP status; 0 when nothing came in time. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly result?: unknown;
  readonly error?: RpcError;
  /** The task or the message that the result is, whichever method it came from. */
  readonly task?: Task;
  readonly message?: Message;
  /** What Jira's strict client would refuse. */
  readonly faults: readonly string[];
  readonly elapsedMs: number;
  readonly timedOut: boolean;
}

export interface Calls {
  readonly app: ForgeApp;
  readonly timeScale: TimeScale;
  /** How long Jira goes on asking about one invocation, unscaled. */
  readonly interactionMs: number;
  /** One authenticated request, for whatever path. */
  open(
    ask: { readonly url: string; readonly body: string | Uint8Array; readonly accept: string },
    options: CallOptions,
  ): Promise<Exchange>;
  rpc(method: string, params: unknown, options?: RpcOptions): Promise<RpcAnswer>;
  siteOf(options: CallOptions): Site;
  personOf(options: CallOptions): string;
  readonly url: string;
}

export interface CallsEnvironment {
  readonly app: ForgeApp;
  readonly keyRing: KeyRing;
  readonly timeScale: TimeScale;
  readonly interactionMs?: number;
  site(name?: string): Site;
  readonly defaults: CallOptions & { readonly url: string };
}

const RESULTS: Readonly<Record<string, MessageName>> = {
  SendMessage: 'SendMessageResponse',
  GetTask: 'Task',
  CancelTask: 'Task',
};

function readResult(method: string, result: unknown): { readonly task?: Task; readonly message?: Message } {
  if (!isObject(result)) return {};
  if (method === 'GetTask' || method === 'CancelTask') return { task: result as unknown as Task };
  return {
    ...(isObject(result.task) ? { task: result.task as unknown as Task } : {}),
    ...(isObject(result.message) ? { message: result.message as unknown as Message } : {}),
  };
}

export function createCalls(environment: CallsEnvironment): Calls {
  const { app, keyRing, timeScale, defaults } = environment;
  const siteOf = (options: CallOptions): Site => environment.site(options.site ?? defaults.site);
  const personOf = (options: CallOptions): string => options.as ?? defaults.as ?? 'alice';

  const authorization = async (options: CallOptions): Promise<string | null> => {
    const chosen = options.authorization === undefined ? defaults.authorization : options.authorization;
    if (chosen !== undefined) return chosen;
    const site = siteOf(options);
    const principal = site.records.person(personOf(options)).accountId;
    const subject = { app, installation: site.installation(), principal };
    return `Bearer ${await mintInvocationToken(keyRing, subject, { ...defaults.invocationToken, ...options.invocationToken })}`;
  };
  const userToken = (options: CallOptions): string | undefined => {
    const choice = options.userToken ?? defaults.userToken ?? 'current';
    if (choice === 'none') return undefined;
    if (choice === 'current') return siteOf(options).currentToken(personOf(options));
    return choice === 'fresh' ? siteOf(options).newToken(personOf(options)) : choice.token;
  };

  const open: Calls['open'] = async ({ url, body, accept }, options) => {
    const bearer = await authorization(options);
    const token = userToken(options);
    const version = options.a2aVersion === undefined ? (defaults.a2aVersion ?? '1.0') : options.a2aVersion;
    return exchange({
      method: 'POST',
      url,
      body,
      headers: {
        accept,
        'content-type': 'application/json',
        ...(bearer === null ? {} : { authorization: bearer }),
        ...(token === undefined ? {} : { 'x-forge-oauth-user': token }),
        ...(version === null ? {} : { 'a2a-version': version }),
        'x-b3-traceid': randomBytes(16).toString('hex'),
        'x-b3-spanid': randomBytes(8).toString('hex'),
        ...defaults.headers,
        ...options.headers,
      },
      ...(options.signal ? { signal: options.signal } : {}),
    });
  };

  const rpc: Calls['rpc'] = async (method, params, options = {}) => {
    const id = options.id === undefined ? randomUUID() : options.id;
    const body = options.body ?? JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const limitMs = options.limitMs ?? timeScale.deadline(JIRA_LIMITS.sendMessageMs);
    const limit = limitedSignal(limitMs, options.signal);
    const { signal } = limit;
    const startedAt = performance.now();
    try {
      const url = options.url ?? defaults.url;
      const answer = await open({ url, body, accept: 'application/json' }, { ...options, signal });
      const text = await readText(answer.body);
      const result = RESULTS[method];
      const envelope = readEnvelope(text, { id, ...(result ? { result } : {}) });
      return {
        status: answer.status,
        headers: answer.headers,
        text,
        ...(envelope.error ? { error: envelope.error } : {}),
        ...('result' in envelope ? { result: envelope.result, ...readResult(method, envelope.result) } : {}),
        // Behind another status Jira's client never looks at the body.
        faults: answer.status === 200 ? envelope.faults : [`HTTP ${answer.status}`],
        elapsedMs: performance.now() - startedAt,
        timedOut: false,
      };
    } catch (error) {
      if (!limit.expired) throw error;
      const faults = [`no answer within ${Math.round(limitMs)} ms`];
      return { status: 0, headers: {}, text: '', faults, elapsedMs: performance.now() - startedAt, timedOut: true };
    } finally {
      limit.clear();
    }
  };

  const interactionMs = environment.interactionMs ?? JIRA_LIMITS.itemInteractionMs;
  return { app, timeScale, interactionMs, open, rpc, siteOf, personOf, url: defaults.url };
}
