import type { TestContext } from 'node:test';
import { setTimeout as later } from 'node:timers/promises';
import type { RpcAnswer } from '../../simulator/client/calls.ts';

export interface Load {
  /** Answers that came. */
  readonly answered: number;
  /** Calls that found nobody listening: what the client does about those is to call again. */
  readonly missed: number;
  /** Answers that were not what was asked for. */
  readonly faults: readonly string[];
  /** Every state that an answer showed. */
  readonly states: ReadonlySet<string>;
  /** Resolves when whatever was on its way when it was called has been answered. */
  arrived(): Promise<void>;
  stop(): Promise<void>;
}

/** Between an answer and the next call. Leaves the processor to the service, too. */
const PACE_MS = 10;

/** Makes a call again and again, each when the one before is answered, until it is stopped or the test is over. */
export function startLoad(t: TestContext, call: () => Promise<RpcAnswer>, paceMs = PACE_MS): Load {
  let [answered, missed, stopped] = [0, 0, false];
  const faults: string[] = [];
  const states = new Set<string>();
  let current: Promise<void> = Promise.resolve();

  async function once(): Promise<void> {
    const answer = await call().catch(() => undefined);
    if (answer === undefined || answer.status === 0) {
      missed += 1;
      return;
    }
    answered += 1;
    const { status, task, text } = answer;
    if (status !== 200 || task === undefined) faults.push(`${status} ${text}`);
    else states.add(task.status.state);
  }

  const loop = (async () => {
    while (!stopped) {
      current = once();
      await current;
      await later(paceMs);
    }
  })();
  const stop = async (): Promise<void> => {
    stopped = true;
    await loop;
  };
  t.after(stop);
  return {
    get answered() {
      return answered;
    },
    get missed() {
      return missed;
    },
    faults,
    states,
    arrived: () => current,
    stop,
  };
}
