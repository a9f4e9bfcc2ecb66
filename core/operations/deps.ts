import type { QueueMax } from '../decide/send.ts';
import type { Clock, Digest, Ids } from '../ports/clock.ts';
import type { Slots } from '../ports/slots.ts';
import type { TaskStore } from '../ports/task-store.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { Vault } from '../ports/vault.ts';
import type { Wakeups } from '../ports/wakeups.ts';

/** What the operations need of the world. */
export interface OperationDeps {
  readonly store: TaskStore;
  readonly vault: Vault;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly telemetry: Telemetry;
  /** How much may wait for the agent. Default LIMITS. */
  readonly queueMax?: QueueMax;
  /** Of the runner in this process, if there is one. */
  readonly slots?: Slots;
}
