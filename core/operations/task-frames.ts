import { LIMITS } from '../limits.ts';
import type { Wakeup } from '../ports/wakeups.ts';
import type { OperationDeps } from './deps.ts';
import { endsAt, type Reader, type StreamScope, stateOf } from './follow.ts';
import type { Frame } from './operations.ts';

/** How a stream begins. */
export interface Opening {
  /** Go out before everything else. */
  readonly frames: readonly Frame[];
  /** What was committed after this sequence follows. Absent: nothing does. */
  readonly cursor?: number;
}

/*
 * The frames of one stream: its opening, then every committed event behind it, until one that ends the stream, the
 * reader's signal, or the task's erasure.
 *
 * A class with one waiting call instead of generators within each other, because thousands of streams stand still at once:
 * each layer would be a promise, a frame and its closures for as long as nothing happens. The opening is dropped as soon
 * as it is there, and what was sent is not kept.
 */
export class TaskFrames implements AsyncIterableIterator<Frame> {
  private readonly deps: OperationDeps;
  private readonly reader: Reader;
  private readonly scope: StreamScope;
  private open: (() => Promise<Opening>) | undefined;
  private ready: Frame[] = [];
  private cursor = 0;
  private over = false;
  private wakeup: Wakeup | undefined;

  /** `open` is asked when the first frame is. `scope`: where the stream ends. */
  constructor(
    deps: OperationDeps,
    reader: Reader,
    { open, scope }: { readonly open: () => Promise<Opening>; readonly scope: StreamScope },
  ) {
    this.deps = deps;
    this.reader = reader;
    this.open = open;
    this.scope = scope;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Frame>> {
    try {
      if (this.open) await this.begin();
      let waits = false;
      while (this.ready.length === 0 && !this.over) {
        if (waits) await this.wakeup?.wait(LIMITS.pollMs, this.reader.signal);
        if (this.reader.signal.aborted) this.over = true;
        else waits = await this.look();
      }
    } catch (error) {
      this.end();
      throw error;
    }
    const frame = this.ready.shift();
    // An array keeps the room that it once needed.
    if (this.ready.length === 0) this.ready = [];
    if (frame !== undefined) return { done: false, value: frame };
    this.end();
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Frame>> {
    this.end();
    return { done: true, value: undefined };
  }

  private async begin(): Promise<void> {
    const opening = this.open?.();
    this.open = undefined;
    const { frames, cursor } = (await opening) ?? { frames: [] };
    // It may have been let go of meanwhile.
    if (this.over) return;
    this.ready = [...frames];
    if (cursor === undefined) {
      this.over = true;
      return;
    }
    this.cursor = cursor;
    // Before anything is read, so that nothing falls between a snapshot and the first event after it.
    this.wakeup = this.deps.wakeups.subscribe(`task:${this.reader.taskId}`);
  }

  /** Answers whether there is nothing to do but wait. */
  private async look(): Promise<boolean> {
    const { store } = this.deps;
    const { owner, taskId } = this.reader;
    const page = await store.events(owner, taskId, this.cursor, LIMITS.eventPage);
    if (page.length === 0 && !(await store.state(owner, taskId))) this.over = true;
    for (const { sequence, body } of page) {
      if (this.over) break;
      this.ready.push({ sequence, body });
      this.cursor = sequence;
      this.over = endsAt(this.scope, stateOf(body));
    }
    return page.length < LIMITS.eventPage;
  }

  private end(): void {
    this.over = true;
    this.ready = [];
    this.wakeup?.close();
    this.wakeup = undefined;
  }
}
