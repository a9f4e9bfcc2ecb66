import type { Clock } from '../../core/ports/clock.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { Wakeups } from '../../core/ports/wakeups.ts';
import type { Connection, Query } from './database.ts';
import { isFatal } from './failures.ts';

/** How late a commit of another process is noticed. One pragma that reads shared memory: a few microseconds. */
const WATCH_MS = 250;

interface ChangeWatchOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly wakeups: Pick<Wakeups, 'notify' | 'notifyAll'>;
  readonly telemetry?: Telemetry;
}

/**
 * SQLite tells nobody about the commits of other processes, but `data_version` changes with each of them (and not with
 * our own). Answers how to stop.
 */
export function watchOtherProcesses({ connection, clock, wakeups, telemetry }: ChangeWatchOptions): () => void {
  const select: Query<[], { data_version: number }> = connection.prepare('pragma data_version');
  let seen = select.get()?.data_version;
  let stop = clock.timer(WATCH_MS, look);

  function look(): void {
    stop = clock.timer(WATCH_MS, look);
    if (connection.health.lost) return;
    try {
      const version = select.get()?.data_version;
      if (version === seen) return;
      seen = version;
      wakeups.notifyAll();
    } catch (error) {
      if (isFatal(error)) connection.health.failed(error);
      else telemetry?.event('warn', 'store.watch_failed', {}, error);
    }
  }

  return () => stop();
}
