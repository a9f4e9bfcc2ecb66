/**
 * A signal that is made when somebody asks for it: making and aborting one takes about 3 µs, and most turns and calls are over
 * before anybody looks at it.
 */
export class StopSignal<Reason> {
  private controller: AbortController | undefined;
  private first: Reason | undefined;

  /** Why it was aborted; undefined: it was not. */
  get reason(): Reason | undefined {
    return this.first;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.first !== undefined) this.controller.abort(this.first);
    }
    return this.controller.signal;
  }

  /** The first reason counts. */
  abort(reason: Reason): void {
    if (this.first !== undefined) return;
    this.first = reason;
    this.controller?.abort(reason);
  }
}
