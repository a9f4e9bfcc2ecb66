export type StopReason = 'client-gone' | 'deadline' | 'shutdown';

/** How long somebody waits for one call: until its answer is out, or until something stops it before. */
export class Lifespan {
  private readonly controller = new AbortController();
  private readonly running: Set<Lifespan>;
  /** Why it was stopped. */
  stopped: StopReason | undefined;

  /** It is in `running` as long as it lasts. */
  constructor(running: Set<Lifespan>) {
    this.running = running.add(this);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  stop(reason: StopReason): void {
    // Every response closes in the end; and an abort without a reason makes an error with a stack.
    if (this.stopped !== undefined || !this.running.has(this)) return;
    this.stopped = reason;
    this.controller.abort(reason);
  }

  end(): void {
    this.running.delete(this);
  }
}
