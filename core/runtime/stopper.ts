import type { Stop } from '../ports/stop.ts';

/** What stops a call or a turn, once. An AbortController costs 3 µs and 2 kB, and every message would have two. */
export class Stopper<Reason> implements Stop {
  private listeners: readonly (() => void)[] = [];
  private first: Reason | undefined;

  /** Why it was aborted; undefined: it was not. */
  get reason(): Reason | undefined {
    return this.first;
  }

  get aborted(): boolean {
    return this.first !== undefined;
  }

  /** How many listen. */
  get listening(): number {
    return this.listeners.length;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) this.listeners = [...this.listeners, listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners = this.listeners.filter((each) => each !== listener);
  }

  /** The first reason counts. */
  abort(reason: Reason): void {
    if (this.aborted) return;
    this.first = reason;
    // One after the other: a listener may take another one back.
    for (let [next, ...rest] = this.listeners; next; [next, ...rest] = this.listeners) {
      this.listeners = rest;
      next();
    }
  }
}

/** For those who want an AbortSignal, as agents may: it is made when somebody asks for it. */
export class StopSignal<Reason> extends Stopper<Reason> {
  private controller: AbortController | undefined;

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.reason !== undefined) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  override abort(reason: Reason): void {
    if (this.aborted) return;
    super.abort(reason);
    this.controller?.abort(reason);
  }
}
