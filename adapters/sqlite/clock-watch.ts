import { isDomainError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { Connection, Query } from './database.ts';
import type { Executions } from './executions.ts';
import type { GroupCommit } from './group-commit.ts';
import { HELD_MS } from './migrations.ts';

/*
 * A system clock that is set back leaves times of the store in the future, and a turn would wait until the clock has
 * caught up. The rows themselves show it, so neither a restart nor another process hides it, and the repair is safe to
 * repeat: nobody opens a turn for later, and leases are about as long as those that this process takes.
 */

const WATCH_MS = 10_000;
/** Smaller steps are waited for. */
const SLACK_MS = 60_000;
/** Another process may take longer leases than this one: that many times is none of a clock that is right. */
const LEASES = 10;

/** A turn that waits while its tenant is paused keeps its distance. */
const AHEAD = `outcome = 'open' and (
  (lease_owner is null and claimable_at % ${HELD_MS} > ?) or (lease_owner is not null and claimable_at > ?))`;
const SELECT_AHEAD = `select 1 as one from execution indexed by execution_open where ${AHEAD} limit 1`;
const PULL_BACK = `update execution indexed by execution_open set claimable_at =
    case when lease_owner is null then claimable_at - claimable_at % ${HELD_MS} + ? else ? end
  where ${AHEAD}`;

interface ClockWatchOptions {
  readonly connection: Connection;
  readonly writes: GroupCommit;
  readonly executions: Executions;
  readonly clock: Clock;
  readonly telemetry?: Telemetry;
}

/** Answers how to stop. */
export function watchClock({ connection, writes, executions, clock, telemetry }: ClockWatchOptions): () => void {
  const select: Query<[waitsUntil: number, leasedUntil: number], unknown> = connection.prepare(SELECT_AHEAD);
  const pullBack: Query<[now: number, leaseEnd: number, waitsUntil: number, leasedUntil: number], unknown> =
    connection.prepare(PULL_BACK);
  let stopped = false;
  let stop = clock.timer(WATCH_MS, () => void look());

  function ahead(now: number): [waitsUntil: number, leasedUntil: number] {
    const { longestLeaseMs } = executions;
    // A process that takes no leases does not know how long they may be.
    return [now + SLACK_MS, longestLeaseMs === 0 ? HELD_MS : now + SLACK_MS + LEASES * longestLeaseMs];
  }

  async function look(): Promise<void> {
    try {
      const found = connection.snapshot(() => select.get(...ahead(clock.now())));
      if (found !== undefined) {
        const count = await writes.run((tx) => {
          const bounds = ahead(tx.now);
          tx.notify('work');
          return pullBack.run(tx.now, bounds[1], ...bounds);
        });
        telemetry?.event('warn', 'store.clock_set_back', { count });
      }
    } catch (error) {
      // The store has said so already.
      const said = isDomainError(error, 'STORE_UNAVAILABLE');
      if (!stopped && !said) telemetry?.event('warn', 'store.watch_failed', {}, error);
    }
    if (!stopped) stop = clock.timer(WATCH_MS, () => void look());
  }

  return () => {
    stopped = true;
    stop();
  };
}
