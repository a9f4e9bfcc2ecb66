export type StopReason = 'client-gone' | 'deadline' | 'shutdown';

/** What stops whoever waits for a call. */
export interface Stoppable {
  readonly signal: AbortSignal;
}

/** How long somebody waits for one call: until its answer is out, or until something stops it before. */
export class Lifespan implements Stoppable {
  private controller: AbortController | undefined;
  private readonly running: Set<Lifespan>;
  /** Why it was stopped. */
  stopped: StopReason | undefined;

  /** It is in `running` as long as it lasts. */
  constructor(running: Set<Lifespan>) {
    this.running = running.add(this);
  }

  /** Made for whoever asks first: with its listeners it is among the dearest things of a call, and most never wait. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.stopped !== undefined) this.controller.abort(this.stopped);
    }
    return this.controller.signal;
  }

  stop(reason: StopReason): void {
    // Every response closes in the end; and an abort without a reason makes an error with a stack.
    if (this.stopped !== undefined || !this.running.has(this)) return;
    this.stopped = reason;
    this.controller?.abort(reason);
  }

  end(): void {
    this.running.delete(this);
  }
}
