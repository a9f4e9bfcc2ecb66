import { rule } from '../decide/rules.ts';
import { isDomainError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { observeStore } from '../observed-store.ts';
import { pause } from '../ports/clock.ts';
import { type Claimed, type ClaimRequest, fenceKey } from '../ports/task-store.ts';
import type { Wakeups } from '../ports/wakeups.ts';
import type { RunningTurn } from './running-turn.ts';
import { startTurn, type TurnDeps } from './turn.ts';

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

export interface Runner {
  start(): void;
  /** Claims no more, lets turns finish for `drainMs`, then stops them in order. Resolves when every slot is free. */
  stop(drainMs: number): Promise<void>;
  readonly running: number;
}

export function createRunner(deps: RunnerDeps): Runner {
  const { clock, store, telemetry, wakeups, worker, leaseMs } = deps;
  const { claim } = observeStore(store, { telemetry });
  const turnDeps: TurnDeps = { ...deps, patienceMs: leaseMs };
  const turns = new Map<string, RunningTurn>();
  /** How many of them each tenant has. */
  const tenants = new Map<string, number>();
  const stopping = new AbortController();
  let claiming: Promise<unknown> = Promise.resolve();
  let loops: Promise<unknown> = Promise.resolve();
  /** The last claim took all that it might, so a slot that becomes free may be wanted. Else every new turn is announced. */
  let mayBeMore = false;
  /** The time to finish is over: whatever begins still is stopped at once. */
  let halted = false;

  function countTurn(tenant: string, change: 1 | -1): void {
    const count = (tenants.get(tenant) ?? 0) + change;
    if (count > 0) tenants.set(tenant, count);
    else tenants.delete(tenant);
  }

  function isFull(tenant: string): boolean {
    const { concurrencyPerTenant: max } = deps;
    return max !== undefined && (tenants.get(tenant) ?? 0) >= max;
  }

  function begin(claimed: Claimed): void {
    const key = fenceKey(claimed.fence);
    const { tenant } = claimed.record.owner;
    const turn = startTurn(turnDeps, claimed);
    const topic = `turn:${claimed.fence.taskId}`;
    // A hint only: the heartbeat finds what was missed, messages and a lost lease.
    const listener = { wake: () => turn.check() };
    wakeups.listen(topic, listener, 'notices');
    turns.set(key, turn);
    countTurn(tenant, 1);
    telemetry.gauge('a2a_turns_running', turns.size);
    if (halted) turn.stop('shutdown');
    void turn.done.then(() => {
      wakeups.unlisten(topic, listener);
      turns.delete(key);
      const wanted = mayBeMore || isFull(tenant);
      countTurn(tenant, -1);
      telemetry.gauge('a2a_turns_running', turns.size);
      if (wanted) wakeups.notify('work');
    });
  }

  function runs(): Pick<ClaimRequest, 'perTenant' | 'running'> {
    const max = deps.concurrencyPerTenant;
    return {
      ...(max === undefined ? {} : { perTenant: { max, running: new Map(tenants) } }),
      // A store that keeps the claim waiting may have kept the heartbeat waiting until the leases ran out.
      ...(turns.size === 0 ? {} : { running: new Set(turns.keys()) }),
    };
  }

  async function beat(): Promise<void> {
    const known = new Map(turns);
    // Only theirs: a turn that could not end itself must lose its lease although this process lives on.
    const leases = await store.heartbeat(worker, leaseMs, { only: new Set(known.keys()) });
    const held = new Map(leases.map((lease) => [fenceKey(lease.fence), lease]));
    for (const [key, turn] of known) {
      const lease = held.get(key);
      if (lease) turn.hear(lease.newest);
      else turn.stop('fenced');
    }
  }

  /** What the store refuses because it cannot be used, it has said itself. */
  function failed(name: string, error: unknown): void {
    telemetry.event(isDomainError(error, 'STORE_UNAVAILABLE') ? 'debug' : 'warn', name, {}, error);
  }

  async function claimLoop(): Promise<void> {
    const wakeup = wakeups.subscribe('work');
    while (!stopping.signal.aborted) {
      const limit = Math.min(deps.concurrency - turns.size, LIMITS.claimMax);
      try {
        const claimed =
          limit > 0
            ? await claim(
                { agent: deps.agentId, worker, leaseMs, limit, ...runs() },
                rule('begin', { idPrefix: deps.ids.next() }),
              )
            : [];
        for (const one of claimed) begin(one);
        mayBeMore = claimed.length >= limit;
        if (claimed.length > 0 && mayBeMore) continue;
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
      if (turns.size === 0 || finished.aborted) continue;
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
      const all = () => Promise.all([...turns.values()].map((turn) => turn.done));
      // A claim that is under way may still bring turns.
      const finish = async () => {
        await claiming;
        await all();
      };
      await Promise.race([finish(), pause(clock, drainMs - reserveMs)]);
      halted = true;
      for (const turn of turns.values()) turn.stop('shutdown');
      await Promise.race([finish(), pause(clock, reserveMs)]);
      finished.abort();
      await loops;
    },
    get running() {
      return turns.size;
    },
  };
}
