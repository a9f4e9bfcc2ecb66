import { LIFECYCLE_MODULE } from '../forge/invocation-token.ts';
import type { JsonObject } from '../json.ts';
import { limitedSignal } from '../limited-signal.ts';
import { JIRA_LIMITS } from '../limits.ts';
import { pause } from '../pause.ts';
import type { CallOptions, Calls } from './calls.ts';
import { readText } from './exchange.ts';

export interface LifecycleOptions extends CallOptions {
  /** Merged over the body. */
  readonly body?: JsonObject;
  readonly retries?: number;
  /** After each attempt; `nextMs` is absent after the last one. */
  onAttempt?(attempt: LifecycleAttempt, nextMs?: number): void;
}

export interface LifecycleAttempt {
  /** 0 when nothing came in time or nobody listened. */
  readonly status: number;
  readonly elapsedMs: number;
  readonly text: string;
}

export interface LifecycleResult {
  readonly attempts: readonly LifecycleAttempt[];
  readonly delivered: boolean;
}

export type LifecycleEvent = 'installed' | 'upgraded' | 'preUninstall';

/** Next to the agent's own URL: `…/rovo/a2a` has `…/rovo/lifecycle` and `…/rovo/pre-uninstall`. */
const PATHS: Readonly<Record<LifecycleEvent, string>> = {
  installed: 'lifecycle',
  upgraded: 'lifecycle',
  preUninstall: 'pre-uninstall',
};

/** Forge's trigger: 5 s for an answer (55 s for the last word), repeated 4 times 60 s apart, whatever the failure. */
export async function sendLifecycle(
  calls: Calls,
  event: LifecycleEvent,
  options: LifecycleOptions = {},
): Promise<LifecycleResult> {
  const installation = calls.siteOf(options).installation();
  const last = event === 'preUninstall';
  const limitMs = calls.timeScale.deadline(last ? JIRA_LIMITS.preUninstallMs : JIRA_LIMITS.lifecycleMs);
  const retries = options.retries ?? (last ? 0 : JIRA_LIMITS.lifecycleRetries);
  const body = JSON.stringify({ ...eventBody(calls, event, options), ...options.body });
  const attempts: LifecycleAttempt[] = [];
  for (let attempt = 0; attempt <= retries; attempt += 1) {
    if (attempt > 0) await pause(calls.timeScale.wait(JIRA_LIMITS.lifecycleRetryMs), options.signal);
    options.signal?.throwIfAborted();
    const outcome = await deliver(
      calls,
      { url: new URL(PATHS[event], options.url ?? calls.url).href, body, limitMs },
      {
        userToken: 'none',
        a2aVersion: null,
        ...options,
        as: options.as ?? installation.installerAccountId,
        invocationToken: { module: LIFECYCLE_MODULE, ...options.invocationToken },
      },
    );
    attempts.push(outcome);
    const delivered = outcome.status >= 200 && outcome.status < 300;
    const more = !delivered && attempt < retries;
    options.onAttempt?.(outcome, more ? calls.timeScale.wait(JIRA_LIMITS.lifecycleRetryMs) : undefined);
    if (delivered) return { attempts, delivered };
  }
  return { attempts, delivered: false };
}

function eventBody(calls: Calls, event: LifecycleEvent, options: CallOptions): JsonObject {
  const installation = calls.siteOf(options).installation();
  return {
    id: installation.id,
    context: `ari:cloud:jira::site/${installation.cloudId}`,
    installerAccountId: installation.installerAccountId,
    app: {
      id: calls.app.uuid,
      name: 'agent-connector',
      ownerAccountId: installation.installerAccountId,
      version: calls.app.version,
    },
    environment: { id: calls.app.environmentUuid },
    eventType: `avi:forge:${event === 'preUninstall' ? 'preuninstall' : event}:app`,
    selfGenerated: false,
    permissions: { scopes: ['read:jira-work', 'read:app-user-token'], external: { fetch: [] } },
  };
}

async function deliver(
  calls: Calls,
  ask: { readonly url: string; readonly body: string; readonly limitMs: number },
  options: CallOptions,
): Promise<LifecycleAttempt> {
  const startedAt = performance.now();
  const limit = limitedSignal(ask.limitMs, options.signal);
  try {
    const answer = await calls.open({ ...ask, accept: 'application/json' }, { ...options, signal: limit.signal });
    const text = await readText(answer.body);
    return { status: answer.status, elapsedMs: performance.now() - startedAt, text };
  } catch (error) {
    if (options.signal?.aborted) throw error;
    return { status: 0, elapsedMs: performance.now() - startedAt, text: '' };
  } finally {
    limit.clear();
  }
}
