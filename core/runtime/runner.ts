import { rule } from '../decide/rules.ts';
import { isDomainError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { observeStore } from '../observed-store.ts';
import { pause } from '../ports/clock.ts';
import type { Slot, Slots } from '../ports/slots.ts';
import { type Claimed, type ClaimRequest, fenceKey } from '../ports/task-store.ts';
import type { Wakeups } from '../ports/wakeups.ts';
import type { Owner } from '../principal.ts';
import { RunningTurns } from './running-turns.ts';
import { SlotCount } from './slot-count.ts';
import { startTurn, type TurnDeps } from './turn.ts';
import { hearNotices } from './turn-notices.ts';

/*
 * Claims turns, keeps their leases alive and hands them to the agent, at most `concurrency` at a time. One heartbeat
 * extends all leases of the process; a turn that it no longer finds among them is stopped.
 */

export interface RunnerDeps extends Omit<TurnDeps, 'patienceMs'> {
  readonly wakeups: Wakeups;
  /** Name of this process among all that share the store. */
  readonly worker: string;
  readonly agentId: string;
  readonly concurrency: number;
  /** Of those at most this many for one tenant. Absent: one may have all of them. */
  readonly concurrencyPerTenant?: number;
  readonly leaseMs: number;
}

export interface Runner extends Slots {
  start(): void;
  /** Claims no more, lets turns finish for `drainMs`, then stops them in order. Resolves when every slot is free. */
  stop(drainMs: number): Promise<void>;
  readonly running: number;
}

export function createRunner(deps: RunnerDeps): Runner {
  const { clock, store, telemetry, wakeups, worker, leaseMs } = deps;
  const observed = observeStore(store, { telemetry });
  const turnDeps: TurnDeps = { ...deps, patienceMs: leaseMs };
  const turns = new RunningTurns();
  const slots = new SlotCount(deps.concurrency, deps.concurrencyPerTenant);
  let claimUnderWay = false;
  const stopping = new AbortController();
  let claiming: Promise<unknown> = Promise.resolve();
  let loops: Promise<unknown> = Promise.resolve();
  /** A slot that becomes free may be wanted: the last claim left some, or could not look. Else every new turn is announced. */
  let mayBeMore = true;
  /** The time to finish is over: whatever begins still is stopped at once. */
  let halted = false;

  /** Leaves a slot, which a turn that waits may want. */
  function leave(tenant: string): void {
    const wanted = mayBeMore || slots.isFull(tenant);
    slots.leave(tenant);
    if (wanted) wakeups.notify('work');
  }

  /** It has a slot. */
  function begin(claimed: Claimed): void {
    const { tenant } = claimed.record.owner;
    const turn = startTurn(turnDeps, claimed);
    const silence = hearNotices(wakeups, claimed, turn);
    const place = turns.add(fenceKey(claimed.fence), turn);
    telemetry.gauge('a2a_turns_running', turns.size);
    if (halted) turn.stop('shutdown');
    void turn.done.then(() => {
      silence();
      turns.remove(place);
      telemetry.gauge('a2a_turns_running', turns.size);
      leave(tenant);
    });
  }

  /** A review agent must know a message that it was never given from one that it may have begun: by a claim of its own. */
  const mayReserve = deps.agent.recovery === 'rerun';

  function reserve({ tenant, agent }: Owner, taskId: string): Slot | undefined {
    if (!mayReserve || mayBeMore || stopping.signal.aborted || agent !== deps.agentId) return undefined;
    // A claim knows how many each tenant had when it was made, and takes as many as are left of its share.
    if (deps.concurrencyPerTenant !== undefined && (claimUnderWay || slots.isFull(tenant))) return undefined;
    const place = slots.reserve(tenant, fenceKey({ taskId, ordinal: 1, attempt: 1 }));
    if (place === undefined) return undefined;
    return {
      lease: { worker, leaseMs },
      begin: (claimed) => {
        begin(claimed);
        slots.settle(place);
      },
      release: () => {
        leave(tenant);
        slots.settle(place);
      },
    };
  }

  /** All that this process may hold a lease of. */
  const leased = (): ReadonlySet<string> => new Set([...turns.keys(), ...slots.expected()]);

  function runs(): Pick<ClaimRequest, 'perTenant' | 'running'> {
    return {
      ...slots.limits(),
      // A store that keeps the claim waiting may have kept the heartbeat waiting until the leases ran out.
      ...(turns.size + slots.reserved === 0 ? {} : { running: leased() }),
    };
  }

  async function beat(): Promise<void> {
    const known = turns.all();
    // Only theirs: a turn that could not end itself must lose its lease although this process lives on.
    const leases = await store.heartbeat(worker, leaseMs, { only: leased() });
    const held = new Map(leases.map((lease) => [fenceKey(lease.fence), lease]));
    for (const { key, turn } of known) {
      const lease = held.get(key);
      if (lease) turn.hear(lease.newest);
      else turn.stop('fenced');
    }
  }

  /** Answers whether more wait. */
  async function claimTurns(limit: number): Promise<boolean> {
    const request = { agent: deps.agentId, worker, leaseMs, limit, slots: slots.shared, ...runs() };
    claimUnderWay = true;
    try {
      const { claimed, more } = await observed.claim(request, rule('begin', { idPrefix: deps.ids.next() }));
      for (const one of claimed) {
        slots.claimed(one.record.owner.tenant);
        begin(one);
      }
      return more;
    } finally {
      claimUnderWay = false;
    }
  }

  /** What the store refuses because it cannot be used, it has said itself. */
  function failed(name: string, error: unknown): void {
    telemetry.event(isDomainError(error, 'STORE_UNAVAILABLE') ? 'debug' : 'warn', name, {}, error);
  }

  async function claimLoop(): Promise<void> {
    const wakeup = wakeups.subscribe('work');
    while (!stopping.signal.aborted) {
      try {
        const limit = Math.min(slots.free, LIMITS.claimMax);
        mayBeMore = limit <= 0 || (await claimTurns(limit));
        if (mayBeMore && limit > 0 && slots.free > 0) continue;
      } catch (error) {
        failed('runner.claim_failed', error);
        await pause(clock, 1_000, stopping.signal);
        continue;
      }
      await wakeup.wait(LIMITS.pollMs, stopping.signal);
    }
    wakeup.close();
  }

  async function heartbeatLoop(finished: AbortSignal): Promise<void> {
    while (!finished.aborted) {
      await pause(clock, leaseMs / 3, finished);
      if (turns.size + slots.reserved === 0 || finished.aborted) continue;
      try {
        await beat();
      } catch (error) {
        failed('runner.heartbeat_failed', error);
      }
    }
  }

  const finished = new AbortController();
  return {
    start: () => {
      claiming = claimLoop();
      loops = Promise.all([claiming, heartbeatLoop(finished.signal)]);
    },
    stop: async (drainMs) => {
      stopping.abort();
      const reserveMs = Math.min(LIMITS.drainReserveMs, drainMs);
      const all = () => Promise.all(turns.all().map(({ turn }) => turn.done));
      // A claim that is under way may still bring turns, and so may messages.
      const finish = async () => {
        await claiming;
        await slots.settled();
        await all();
      };
      await Promise.race([finish(), pause(clock, drainMs - reserveMs)]);
      halted = true;
      for (const { turn } of turns.all()) turn.stop('shutdown');
      await Promise.race([finish(), pause(clock, reserveMs)]);
      finished.abort();
      await loops;
    },
    reserve,
    get running() {
      return turns.size;
    },
  };
}
