import { StopSignal } from '../../core/runtime/stop-signal.ts';

export type StopReason = 'client-gone' | 'deadline' | 'shutdown';

/** What stops whoever waits for a call. */
export interface Stoppable {
  readonly signal: AbortSignal;
}

/** How long somebody waits for one call: until its answer is out, or until something stops it before. */
export class Lifespan extends StopSignal<StopReason> implements Stoppable {
  private readonly running: Set<Lifespan>;

  /** It is in `running` as long as it lasts. */
  constructor(running: Set<Lifespan>) {
    super();
    this.running = running.add(this);
  }

  stop(reason: StopReason): void {
    // Every response closes in the end; and an abort without a reason makes an error with a stack.
    if (this.running.has(this)) this.abort(reason);
  }

  end(): void {
    this.running.delete(this);
  }
}
