import { isTaskFull } from '../decide/status.ts';
import { isDomainError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { Part } from '../message.ts';
import { observeStore } from '../observed-store.ts';
import type { Agent } from '../ports/agent.ts';
import type { Ids } from '../ports/clock.ts';
import type { Claimed } from '../ports/task-store.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { isTerminal } from '../task.ts';
import { type AgentSteps, createAgentSteps, iteratorOf } from './agent-steps.ts';
import { type CheckedUpdate, checkUpdate } from './agent-update.ts';
import { type PrepareTurnDeps, prepareTurn } from './prepare-turn.ts';
import type { RunningTurn, StopReason } from './running-turns.ts';
import { StopSignal } from './stopper.ts';
import { TurnLog } from './turn-log.ts';
import { describeThrown, ENDED, STOPPED, TURN_TEXTS } from './turn-texts.ts';
import { createTurnWriter, type TurnWriterDeps } from './turn-writer.ts';

/*
 * Drives one turn of one agent. The agent is never awaited once it is to stop: its next update races the abort and the
 * flush timer, `return()` is called without waiting, and whatever it yields later is refused by the fence.
 */

export interface TurnDeps extends Omit<TurnWriterDeps, 'store'>, PrepareTurnDeps {
  readonly ids: Ids;
  readonly agent: Agent;
  readonly telemetry: Telemetry;
  readonly parkedMaxMs: number;
}

export function startTurn(deps: TurnDeps, claimed: Claimed): RunningTurn {
  const { agent, clock, digest, ids, patienceMs } = deps;
  const { fence, record } = claimed;
  const signal = new StopSignal<unknown>();
  const recovery = agent.recovery ?? 'review';
  const log = new TurnLog(deps.telemetry, claimed, recovery);
  const writer = createTurnWriter({ store: observeStore(deps.store, log), clock, digest, patienceMs }, claimed);
  let stopped: StopReason | undefined;
  let steps: AgentSteps | undefined;
  let ending = false;

  const saying = (text: string | readonly Part[]) => ({
    messageId: ids.next(),
    parts: typeof text === 'string' ? [{ text }] : text,
  });

  function stop(reason: StopReason): void {
    if (stopped !== undefined) return;
    stopped = reason;
    log.event('info', 'turn.stopped', { reason });
    signal.abort(STOPPED);
    steps?.stop();
  }

  async function run(): Promise<void> {
    if (isTerminal(record.status.state)) return;
    if (claimed.lost) {
      log.lost();
      if (recovery === 'review') return writer.giveUp(saying(TURN_TEXTS.review), 'lease lost');
      if (fence.attempt > LIMITS.maxAttempts)
        return writer.giveUp(saying(TURN_TEXTS.exhausted), 'lease lost too often');
    }
    writer.deliver(claimed.pending);
    try {
      const turn = await prepareTurn(deps, claimed, { writer, stop: signal });
      if (!turn) return;
      // The agent has not begun, so whatever its recovery says, somebody else may start it.
      if (stopped !== undefined) return stopped === 'shutdown' ? await writer.giveBack() : undefined;
      steps = createAgentSteps(iteratorOf(agent.run(turn)), clock);
    } catch (error) {
      return thrown(error);
    }
    await drive(steps);
  }

  async function drive({ next, flush, leave }: AgentSteps): Promise<void> {
    let updates = 0;
    let cancelFlush: (() => void) | undefined;
    const flushDue = (): void => {
      // Also when it comes in the middle of a commit and nobody listens: the next text needs a timer of its own.
      cancelFlush = undefined;
      flush();
    };
    try {
      for (;;) {
        if (writer.buffered()) cancelFlush ??= clock.timer(LIMITS.mergeMs, flushDue);
        const step = await next();
        if (step.kind === 'flush') {
          await writer.flush();
          continue;
        }
        if (step.kind === 'stopped') return await interrupted();
        if (step.kind === 'thrown') return await thrown(step.error);
        if (step.result.done) {
          log.event('warn', 'turn.silent');
          return await writer.fail(saying(TURN_TEXTS.silent), 'returned without a final state');
        }
        updates += 1;
        if (await apply(checkUpdate(step.result.value), updates === 1)) return;
      }
    } catch (error) {
      await thrown(error);
    } finally {
      cancelFlush?.();
      signal.abort(ENDED);
      // Only for as long as a slot may be kept from the next turn.
      const left = await leave(LIMITS.abandonMs, (error) => log.event('debug', 'agent.return_failed', {}, error));
      if (!left) log.leftOver();
    }
  }

  /** Commits one update. True when it ended the turn. */
  async function apply(update: CheckedUpdate, first: boolean): Promise<boolean> {
    if (update.kind === 'artifact') {
      await writer.chunk(update);
      return false;
    }
    const said = update.parts.length > 0 ? saying(update.parts) : undefined;
    if (update.kind === 'status' && update.state === 'TASK_STATE_WORKING') {
      await writer.progress(said, update.metadata);
      return false;
    }
    const state = update.kind === 'reply' ? 'TASK_STATE_COMPLETED' : update.state;
    ending = true;
    await writer.end({
      state: state === 'TASK_STATE_WORKING' ? 'TASK_STATE_COMPLETED' : state,
      reply: update.kind === 'reply' && first,
      parkedMaxMs: deps.parkedMaxMs,
      ...(said ? { saying: said } : {}),
      ...(!said && state === 'TASK_STATE_AUTH_REQUIRED' ? { unsaid: saying(TURN_TEXTS.authorization) } : {}),
      ...(update.kind === 'status' && update.metadata ? { metadata: update.metadata } : {}),
    });
    log.event('info', 'turn.ended', { transition: state });
    return true;
  }

  async function thrown(error: unknown): Promise<void> {
    if (stopped !== undefined) return interrupted();
    if (isDomainError(error, 'USER_TOKEN_REQUIRED')) {
      log.event('info', 'turn.parked');
      return writer.park({ saying: saying(error.message), tokenHash: error.tokenHash ?? '' });
    }
    if (isDomainError(error, 'LEASE_LOST') || isDomainError(error, 'STORE_UNAVAILABLE')) throw error;
    log.event('error', 'turn.failed', {}, error);
    const text = isTaskFull(error) ? TURN_TEXTS.events : TURN_TEXTS.failed;
    return writer.fail(saying(text), describeThrown(error));
  }

  async function interrupted(): Promise<void> {
    if (stopped !== 'shutdown') return;
    if (recovery === 'rerun') await writer.giveBack();
    else await writer.fail(saying(TURN_TEXTS.restart), 'interrupted by a restart');
    log.event('info', 'turn.interrupted');
  }

  /**
   * The turn could not even be failed. The heartbeat will extend this lease again, so it must not be left behind: when the
   * store was away for too long a `rerun` is given back, and whatever else it was would only happen again.
   */
  async function abandon(cause: unknown): Promise<void> {
    if (stopped !== undefined || isDomainError(cause, 'LEASE_LOST')) throw cause;
    log.event('error', 'turn.abandoned', {}, cause);
    while (stopped === undefined) {
      try {
        const again = recovery === 'rerun' && isDomainError(cause, 'STORE_UNAVAILABLE');
        if (again) return await writer.giveBack();
        return await writer.fail(saying(TURN_TEXTS.review), describeThrown(cause));
      } catch (error) {
        if (!isDomainError(error, 'STORE_UNAVAILABLE')) throw error;
      }
    }
  }

  function check(): void {
    // The commit that ends it wakes it, too: a look would only wait behind that, and nobody asks for messages any more.
    if (ending) return;
    writer.check().catch((error: unknown) => {
      if (isDomainError(error, 'LEASE_LOST') || isDomainError(error, 'TASK_NOT_FOUND')) stop('fenced');
    });
  }

  /** Never rejects. */
  async function live(): Promise<void> {
    try {
      await run();
    } catch (error) {
      await abandon(error).catch((last: unknown) => log.event('info', 'turn.fenced', {}, last));
    }
  }

  return {
    stop,
    hear: (newest) => {
      if (newest > writer.newest()) check();
    },
    check,
    done: log.run(live),
  };
}
