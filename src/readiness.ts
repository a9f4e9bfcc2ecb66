import { isDomainError, type StoreFault } from '../core/errors.ts';
import { type Clock, pause } from '../core/ports/clock.ts';
import type { TaskStore } from '../core/ports/task-store.ts';
import type { Telemetry } from '../core/ports/telemetry.ts';
import { lately } from './lately.ts';

/** Whether the service should get traffic; else why not, in fixed words that anybody may read. */
export type NotReady = 'stopping' | 'store silent' | `store ${StoreFault}`;
export type ReadinessCheck = () => Promise<NotReady | undefined>;

/** Whether the store can commit is a commit, and anybody may ask for it: one answer stands this long. */
const STANDS_MS = 1_000;
/** A probe wants an answer before its own limit. */
const PATIENCE_MS = 2_000;

export interface ReadinessOptions {
  readonly store: Pick<TaskStore, 'ping'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly stopping: () => boolean;
}

/** Says in the log when it begins and when it ends that the service is not ready, however often it is asked. */
export function createReadiness({ store, clock, telemetry, stopping }: ReadinessOptions): ReadinessCheck {
  const commits = lately(() => store.ping(), clock, STANDS_MS);
  let said: NotReady | undefined;

  async function fault(): Promise<NotReady | undefined> {
    if (stopping()) return 'stopping';
    const waited = new AbortController();
    const silent = pause(clock, PATIENCE_MS, waited.signal).then((): NotReady => 'store silent');
    const answered = commits().then(
      () => undefined,
      (error: unknown): NotReady =>
        isDomainError(error, 'STORE_UNAVAILABLE') ? `store ${error.storeFault ?? 'failing'}` : 'store failing',
    );
    try {
      return await Promise.race([answered, silent]);
    } finally {
      waited.abort();
    }
  }

  return async () => {
    const reason = await fault();
    if (reason !== said) {
      said = reason;
      if (reason === undefined) telemetry.event('info', 'readiness.restored');
      else telemetry.event('warn', 'readiness.failed', { reason });
    }
    return reason;
  };
}
