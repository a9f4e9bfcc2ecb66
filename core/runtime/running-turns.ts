import { Registry } from '../registry.ts';

/** Why a turn is stopped from outside. `fenced`: it may write no more (canceled, expired, taken over, tenant removed). */
export type StopReason = 'fenced' | 'shutdown';

export interface RunningTurn {
  stop(reason: StopReason): void;
  /** A message of this ordinal waits: reads it unless it is known. */
  hear(newest: number): void;
  /** Asks the store at once whether this turn may go on. */
  check(): void;
  /** Resolves when the slot is free. Never rejects. */
  readonly done: Promise<void>;
}

interface Running {
  /** fenceKey of the attempt. */
  readonly key: string;
  readonly turn: RunningTurn;
}

/** Those of one process. */
export class RunningTurns {
  private readonly running = new Registry<Running>();

  get size(): number {
    return this.running.size;
  }

  /** Answers the place that `remove` takes. */
  add(key: string, turn: RunningTurn): number {
    return this.running.add({ key, turn });
  }

  remove(place: number): void {
    this.running.take(place);
  }

  all(): readonly Running[] {
    return [...this.running.values()];
  }

  keys(): readonly string[] {
    return this.all().map(({ key }) => key);
  }
}
