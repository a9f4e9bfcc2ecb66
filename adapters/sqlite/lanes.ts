import type { ClaimRequest } from '../../core/ports/task-store.ts';
import type { Connection, Query } from './database.ts';
import type { ClaimableRow } from './executions.ts';
import { LIMIT } from './limit.ts';

/*
 * Whose turn it is. A lane is what one tenant has waiting and running for one agent; the next turn is that of the lane that
 * is due first, and within a lane the oldest. A lane is due RUNNING_WEIGHT claims later for each of its running turns than it
 * was served, so few running turns come first, but claims of others count against them. Whoever is served while a lane
 * waits gets behind it after RUNNING_WEIGHT claims for each running turn of that lane, at once if it has none: then it
 * waits for at most one claim of each other tenant, however much those have waiting. What it costs to find out grows with
 * the lanes that have work, up to the size of a claim, and with no backlog.
 *
 * A turn whose lease ran out does not count as running: its process is gone, and it waits like the others.
 */

/** Among as many tenants the fewest running turns are next. The column `due` is made with it: see its migration. */
const RUNNING_WEIGHT = 32;
const OPEN_LANE = `coalesce(n.status, 'active') = 'active'
    and not exists (select 1 from tenant_pause p where p.tenant = l.tenant)
    and not exists (select 1 from runner_pause where id = 1)`;
const SELECT_WAITING = `select l.pk, l.tenant, l.running, l.served
  from lane l indexed by lane_next left join tenant n on n.id = l.tenant
  where l.agent = ? and l.waiting > 0 and l.tenant <> '' and (l.due, l.pk) > (?, ?) and ${OPEN_LANE}
  order by l.due, l.pk ${LIMIT}`;
/** Worker by worker, because one index for heartbeats and for this is a page less in every claim: see the migration. */
const SELECT_LOST = `with recursive worker (id) as (
    select min(lease_owner) from execution indexed by execution_leased where lease_owner is not null
    union all
    select (select min(e.lease_owner) from execution e indexed by execution_leased where e.lease_owner > worker.id)
    from worker where worker.id is not null)
  select l.pk, l.tenant, l.running - count(*) as running, l.served, count(*) as lost
  from worker
  join execution e indexed by execution_leased on e.lease_owner = worker.id and e.claimable_at <= ?
  join lane l on l.pk = e.lane left join tenant n on n.id = l.tenant
  where l.agent = ? and ${OPEN_LANE}
  group by l.pk`;
/*
 * `claimable_at` leaves out what is leased, not available yet or held back with its tenant. Of the rest, the first
 * `not exists` lets only the oldest open turn of a task through and the second keeps a task with a live lease to its one
 * worker.
 */
const SELECT_CLAIMABLE = `select e.task, e.ordinal, e.attempt, e.lease_owner, e.lost, e.trace,
    coalesce(octet_length(m.json), 0) as bytes, exists (select 1 from execution o indexed by execution_open
      where o.task = e.task and o.outcome = 'open' and o.ordinal > e.ordinal) as more
  from execution e indexed by execution_lane
  join task t on t.pk = e.task
  left join message m on m.task = e.task and m.ordinal = e.ordinal
  where e.lane = ? and e.outcome = 'open' and e.claimable_at <= ?
    and t.ended = 0
    and not exists (
      select 1 from execution o where o.task = e.task and o.outcome = 'open' and o.ordinal < e.ordinal)
    and not exists (
      select 1 from execution o indexed by execution_open
      where o.task = e.task and o.outcome = 'open' and o.ordinal > e.ordinal
        and o.lease_owner is not null and o.claimable_at > ?)
  order by e.claimable_at, e.task ${LIMIT}`;
const SELECT_ALL = "select pk, served, waiting from lane where agent = ? and tenant = ''";
const SERVE = 'update lane set served = ? where pk = ?';

interface LaneRow {
  readonly pk: number;
  readonly tenant: string;
  readonly running: number;
  readonly served: number;
}

interface LostRow extends LaneRow {
  /** Turns whose lease ran out. */
  readonly lost: number;
}

/** A lane during one claim. */
interface Lane {
  readonly pk: number;
  readonly tenant: string;
  running: number;
  served: number;
  /** Read already and not taken yet. */
  rows: ClaimableRow[];
}

export interface Lanes {
  /**
   * Answers one turn after the other, each to be leased before the next is asked for, and has to be asked until there is
   * none: undefined when none is left, or when `takes` refused the next one, which keeps its place.
   */
  claim(request: ClaimRequest, now: number, options: ClaimOptions): LaneClaim;
}

export interface LaneClaim {
  next(): ClaimableRow | undefined;
  /** Behind the last one: it was not the last, as far as counts tell, which know nothing of turns that may not run yet. */
  more(): boolean;
}

interface AllLanes {
  readonly pk: number;
  served: number;
  waiting: number;
}

interface ClaimOptions {
  readonly takes: (row: ClaimableRow) => boolean;
  /** Called when leases have run out: extends those of turns that go on. Answers whether there were any. */
  readonly extend: () => boolean;
}

type LaneKey = Pick<Lane, 'running' | 'served' | 'pk'>;

function due({ running, served }: LaneKey): number {
  return served + RUNNING_WEIGHT * running;
}

function isBefore(a: LaneKey, b: LaneKey): boolean {
  return due(a) === due(b) ? a.pk < b.pk : due(a) < due(b);
}

export function createLanes(connection: Connection): Lanes {
  const selectWaiting: Query<[agent: string, due: number, pk: number, limit: number], LaneRow> =
    connection.prepare(SELECT_WAITING);
  const selectLost: Query<[now: number, agent: string], LostRow> = connection.prepare(SELECT_LOST);
  const selectClaimable: Query<[lane: number, now: number, again: number, limit: number], ClaimableRow> =
    connection.prepare(SELECT_CLAIMABLE);
  const selectAll: Query<[agent: string], AllLanes> = connection.prepare(SELECT_ALL);
  const serve: Query<[served: number, pk: number], unknown> = connection.prepare(SERVE);

  const claim: Lanes['claim'] = ({ agent, limit, perTenant }, now, { takes, extend }) => {
    /** Every lane that was read; the dry and the full ones leave `lanes` and stay here. */
    const seen = new Set<number>();
    const lanes = new Map<number, Lane>();
    const held = new Map(perTenant?.running);
    /** What was taken last of each lane. */
    const served = new Map<number, number>();
    let left = limit;
    let all: AllLanes | undefined;
    /** Turns whose lease ran out and that were not taken yet. They do not count as waiting. */
    let lost = 0;
    /** It ended before it had seen everything. */
    let refused = false;
    /** Lanes behind this one have not been read; undefined: all have. */
    let read: LaneKey | undefined = { running: -1, served: 0, pk: 0 };

    function add(row: LaneRow): void {
      if (seen.has(row.pk)) return;
      seen.add(row.pk);
      lanes.set(row.pk, { ...row, rows: [] });
    }

    function readOn(after: LaneKey): void {
      const page = selectWaiting.all(agent, due(after), after.pk, limit);
      for (const row of page) add(row);
      read = page.length < limit ? undefined : page.at(-1);
    }

    function first(): Lane | undefined {
      for (;;) {
        let best: Lane | undefined;
        for (const lane of lanes.values()) if (!best || isBefore(lane, best)) best = lane;
        // A lane that was not read yet may come before one that was served meanwhile.
        if (!read || (best && !isBefore(read, best))) return best;
        readOn(read);
      }
    }

    function isFull({ tenant }: Lane): boolean {
      return perTenant !== undefined && (held.get(tenant) ?? 0) >= perTenant.max;
    }

    function next(): ClaimableRow | undefined {
      for (let lane = first(); lane && left > 0; lane = first()) {
        if (lane.rows.length === 0 && !isFull(lane)) {
          lane.rows = selectClaimable.all(lane.pk, now, now, Math.ceil(left / lanes.size));
        }
        const row = isFull(lane) ? undefined : lane.rows.shift();
        if (!row) {
          lanes.delete(lane.pk);
          continue;
        }
        if (!takes(row)) {
          refused = true;
          return undefined;
        }
        left -= 1;
        all ??= selectAll.get(agent) ?? { pk: lane.pk, served: lane.served, waiting: 0 };
        all.served += 1;
        if (row.lease_owner === null) all.waiting -= 1;
        else lost -= 1;
        lane.running += 1;
        lane.served = all.served;
        served.set(lane.pk, lane.served);
        held.set(lane.tenant, (held.get(lane.tenant) ?? 0) + 1);
        return row;
      }
      return undefined;
    }

    const expired = selectLost.all(now, agent);
    for (const row of expired.length > 0 && extend() ? selectLost.all(now, agent) : expired) {
      add(row);
      lost += row.lost;
    }
    return {
      next() {
        const row = next();
        if (!row && all) {
          // Where the next claim goes on counting.
          served.set(all.pk, all.served);
          // Once for each lane, however much of it was taken: a lane that is read on has not been served by this claim.
          for (const [pk, last] of served) serve.run(last, pk);
        }
        return row;
      },
      more: () => (refused || left === 0) && (all === undefined || all.waiting + lost > 0),
    };
  };

  return { claim };
}
