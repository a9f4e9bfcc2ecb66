import type { Stop } from '../../core/ports/stop.ts';
import type { Registry } from '../../core/registry.ts';
import { Stopper } from '../../core/runtime/stopper.ts';

export type StopReason = 'client-gone' | 'deadline' | 'shutdown';

/** What stops whoever waits for a call. */
export interface Stoppable {
  readonly signal: Stop;
}

/** How long somebody waits for one call: until its answer is out, or until something stops it before. */
export class Lifespan extends Stopper<StopReason> implements Stoppable {
  private readonly running: Registry<Lifespan>;
  private readonly key: number;

  /** It is in `running` as long as it lasts. */
  constructor(running: Registry<Lifespan>) {
    super();
    this.running = running;
    this.key = running.add(this);
  }

  get signal(): Stop {
    return this;
  }

  stop(reason: StopReason): void {
    // Every response closes in the end.
    if (this.running.has(this.key)) this.abort(reason);
  }

  end(): void {
    this.running.take(this.key);
  }
}
