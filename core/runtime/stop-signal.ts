/**
 * The signal of one turn, made when somebody asks for it: making and aborting one takes about 3 µs, and an agent that
 * answers at once never looks at it.
 */
export class StopSignal {
  private controller: AbortController | undefined;
  private reason: unknown;

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.reason !== undefined) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  /** The first reason counts. */
  abort(reason: unknown): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.controller?.abort(reason);
  }
}
