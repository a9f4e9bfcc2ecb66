import { leaveSlots, takeSlot } from '../ports/slots.ts';
import type { ClaimRequest } from '../ports/task-store.ts';
import { Registry } from '../registry.ts';

/**
 * How many turns this process has room for, and who has them: turns that run and slots that are kept for one. How many are
 * free is shared with the store, which may claim in another thread and takes a slot for each turn as it goes.
 */
export class SlotCount {
  readonly shared = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  /** For one tenant; undefined: one may have all. */
  private readonly perTenant: number | undefined;
  private readonly tenants = new Map<string, number>();
  /** Slots that are kept and not yet used or given back: the attempt (fenceKey) that may have begun already. */
  private readonly kept = new Registry<string>();
  private noneReserved: (() => void) | undefined;

  constructor(max: number, perTenant: number | undefined) {
    this.shared[0] = max;
    this.perTenant = perTenant;
  }

  get free(): number {
    return Atomics.load(this.shared, 0);
  }

  isFull(tenant: string): boolean {
    return this.perTenant !== undefined && (this.tenants.get(tenant) ?? 0) >= this.perTenant;
  }

  get reserved(): number {
    return this.kept.size;
  }

  expected(): Iterable<string> {
    return this.kept.values();
  }

  /** Keeps a slot until `settle` gets what this answers. Undefined: none is free. */
  reserve(tenant: string, key: string): number | undefined {
    if (!takeSlot(this.shared)) return undefined;
    this.count(tenant, 1);
    return this.kept.add(key);
  }

  /** What was reserved is used, or has been left. */
  settle(place: number): void {
    this.kept.take(place);
    if (this.kept.size === 0) this.noneReserved?.();
  }

  /** Resolves when nothing is reserved. */
  async settled(): Promise<void> {
    if (this.reserved === 0) return;
    await new Promise<void>((resolve) => {
      this.noneReserved = resolve;
    });
  }

  /** For a turn that has taken its slot when it was claimed. */
  claimed(tenant: string): void {
    this.count(tenant, 1);
  }

  leave(tenant: string): void {
    leaveSlots(this.shared, 1);
    this.count(tenant, -1);
  }

  /** For a claim: nothing when one tenant may have all. */
  limits(): Pick<ClaimRequest, 'perTenant'> {
    return this.perTenant === undefined ? {} : { perTenant: { max: this.perTenant, running: new Map(this.tenants) } };
  }

  private count(tenant: string, change: number): void {
    const count = (this.tenants.get(tenant) ?? 0) + change;
    if (count > 0) this.tenants.set(tenant, count);
    else this.tenants.delete(tenant);
  }
}
