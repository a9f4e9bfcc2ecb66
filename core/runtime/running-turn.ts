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
