import type { DomainError, StoreFault } from '../../core/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { faultOf, unavailable } from './failures.ts';

/*
 * What is known about the database being usable. While it is not, hundreds of operations a second may find that out: it
 * is said once when it begins, again each minute, and once when it is over. Whoever is refused says nothing more.
 */

/** How often trouble that goes on is said again. */
const REMIND_MS = 60_000;
/** A full disk may have room for one row and not for the next: it is over when nothing has failed for this long. */
const CALM_MS = 5_000;

export interface Health {
  /** It will not be mended in this process: nothing may be read or written any more. */
  readonly lost: StoreFault | undefined;
  /** What is there must not be shown: it is not what the next start will find. */
  readonly unreadable: StoreFault | undefined;
  /** Operations failed by what the database threw; answers what to reject them with. */
  failed(error: unknown, operations?: number): DomainError;
  /** The same for a fault that was seen before the database was asked. */
  refused(fault: StoreFault, operations?: number, error?: unknown): DomainError;
  /** Somebody else was refused because of what is known here. That may be over by now, so it is counted and nothing more. */
  heard(fault: StoreFault, operations: number, error?: unknown): void;
  /** From now on it is lost. Answers what to reject with. */
  lose(fault: StoreFault, operations?: number): DomainError;
  /** A commit went well. */
  worked(): void;
}

export interface HealthOptions {
  readonly clock: Clock;
  readonly telemetry?: Telemetry | undefined;
}

interface Trouble {
  readonly since: number;
  readonly faults: Set<StoreFault>;
  fault: StoreFault;
  last: number;
  said: number;
  count: number;
}

export function createHealth({ clock, telemetry }: HealthOptions): Health {
  let trouble: Trouble | undefined;
  let lost: StoreFault | undefined;
  let moved = false;

  function note(fault: StoreFault, operations: number, error: unknown): void {
    const now = clock.now();
    telemetry?.count('a2a_store_failures_total', { reason: fault }, operations);
    trouble ??= { since: now, faults: new Set(), fault, last: now, said: now, count: 0 };
    const known = trouble.faults.has(fault);
    trouble.faults.add(fault);
    trouble.fault = fault;
    trouble.last = now;
    trouble.count += operations;
    if (known && Math.abs(now - trouble.said) < REMIND_MS) return;
    trouble.said = now;
    telemetry?.gauge('a2a_store_available', 0);
    const { count, since } = trouble;
    const fields = { reason: fault, operations: count, ...(known ? { durationMs: now - since } : {}) };
    telemetry?.event('error', 'store.unavailable', fields, error);
  }

  function refused(fault: StoreFault, operations = 1, error?: unknown): DomainError {
    moved = fault === 'moved';
    note(lost ?? fault, operations, error);
    return unavailable(lost ?? fault, error);
  }

  return {
    get lost() {
      return lost;
    },
    get unreadable() {
      return lost ?? (moved ? 'moved' : undefined);
    },
    failed(error, operations) {
      const fault = faultOf(error);
      // What one statement found broken, another one may have read without noticing.
      if (fault === 'damaged') lost ??= fault;
      return refused(fault, operations, error);
    },
    refused,
    heard: (fault, operations, error) => note(lost ?? fault, operations, error),
    lose(fault, operations) {
      lost ??= fault;
      return refused(fault, operations);
    },
    worked() {
      moved = false;
      if (!trouble || lost) return;
      const now = clock.now();
      // Also when the clock was set back meanwhile.
      if (Math.abs(now - trouble.last) < CALM_MS) return;
      const { fault: reason, count: operations, since } = trouble;
      trouble = undefined;
      telemetry?.gauge('a2a_store_available', 1);
      telemetry?.event('warn', 'store.available', { reason, operations, durationMs: now - since });
    },
  };
}
