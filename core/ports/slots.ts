import type { Owner } from '../principal.ts';
import type { TaskStatus } from '../task.ts';
import type { Claimed, Fence, LeaseRequest } from './task-store.ts';

/** Places for turns in this process, for messages whose turn may begin in the commit that accepts them. */
export interface Slots {
  /**
   * Keeps one for the first turn of a task of this owner that may come to be. Undefined: its turn has to be claimed, like
   * everybody's while turns wait.
   */
  reserve(owner: Owner, taskId: string): Slot | undefined;
}

/** To be given to a turn or back, once. */
export interface Slot {
  readonly lease: LeaseRequest;
  begin(claimed: Claimed): void;
  release(): void;
}

/** A turn that began with its acceptance: with the message and the record of that it is a Claimed. */
export interface Begun {
  readonly fence: Fence;
  readonly status: TaskStatus;
  readonly sequence: number;
  readonly trace?: string;
}

/** How many slots are free, in memory that threads share: the only element. */
export type FreeSlots = Int32Array<SharedArrayBuffer>;

/** False: none was free. */
export function takeSlot(free: FreeSlots): boolean {
  for (let seen = Atomics.load(free, 0); seen > 0; ) {
    const found = Atomics.compareExchange(free, 0, seen, seen - 1);
    if (found === seen) return true;
    seen = found;
  }
  return false;
}

export function leaveSlots(free: FreeSlots, count: number): void {
  if (count > 0) Atomics.add(free, 0, count);
}
