import { isDomainError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { AuditEntry, OperatorStore } from '../ports/operator-store.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { Wakeups } from '../ports/wakeups.ts';

/*
 * Operators act in processes of their own, and what they do to a task is a part of its story. So every service reads the
 * audit as it grows and says each act in its own log. Who it was and why stays in the audit: a log goes to more people.
 */

export interface ActLogDeps {
  readonly operator: Pick<OperatorStore, 'audit' | 'actsAfter'>;
  readonly wakeups: Wakeups;
  readonly telemetry: Telemetry;
}

export interface ActLog {
  /** Says what is done from now on. */
  start(): void;
  stop(): Promise<void>;
}

const PAGE = 100;

function textIn(entry: AuditEntry, name: string): string | undefined {
  const value = entry.detail?.[name];
  return typeof value === 'string' ? value : undefined;
}

export function createActLog({ operator, wakeups, telemetry }: ActLogDeps): ActLog {
  const stopping = new AbortController();
  let loop: Promise<void> = Promise.resolve();

  function say(entry: AuditEntry): void {
    const { act, taskId, ordinal: turn, tenant, principal } = entry;
    const [from, to, retriedAs] = ['from', 'to', 'retriedAs'].map((name) => textIn(entry, name));
    telemetry.count('a2a_operator_acts_total', { act });
    telemetry.event('info', 'operator.acted', { act, taskId, turn, tenant, principal, from, to, retriedAs });
  }

  async function watch(): Promise<void> {
    const wakeup = wakeups.subscribe('acts');
    let last: number | undefined;
    while (!stopping.signal.aborted) {
      try {
        last ??= (await operator.audit(1))[0]?.number ?? 0;
        for (const entry of await operator.actsAfter(last, PAGE)) {
          say(entry);
          last = entry.number;
        }
      } catch (error) {
        // What the store refuses because it cannot be used, it has said itself.
        const level = isDomainError(error, 'STORE_UNAVAILABLE') ? 'debug' : 'warn';
        telemetry.event(level, 'operator.watch_failed', {}, error);
      }
      await wakeup.wait(LIMITS.pollMs, stopping.signal);
    }
    wakeup.close();
  }

  return {
    start: () => {
      loop = watch();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}
