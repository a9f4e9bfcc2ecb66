import { LIMITS } from '../limits.ts';
import type { Listener } from '../ports/wakeups.ts';
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

type Step = IteratorResult<Frame, undefined>;

const OVER: Step = { done: true, value: undefined };

/*
 * The frames of one stream: its opening, then every committed event behind it, until one that ends the stream, the
 * reader's signal, or the task's erasure. One call of `next` at a time.
 *
 * No generator and no waiting function, because thousands of streams stand still at once: while nothing happens there is
 * one promise, and a look into the store that finds nothing leaves nothing behind. The opening is dropped as soon as it is
 * there, and what was given is not kept.
 */
export class TaskFrames implements AsyncIterableIterator<Frame, undefined>, Listener {
  private readonly deps: OperationDeps;
  private readonly reader: Reader;
  private readonly scope: StreamScope;
  private open: (() => Promise<Opening>) | undefined;
  private ready: Frame[] = [];
  private cursor = 0;
  private over = false;
  /** Something may have been committed since the last look. */
  private due = true;
  private looking = false;
  private waiting: { resolve(step: Step | Promise<Step>): void; reject(error: unknown): void } | undefined;
  private stop: (() => void) | undefined;

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

  next(): Promise<Step> {
    if (this.open) return this.begin();
    const frame = this.ready.shift();
    if (frame !== undefined) return Promise.resolve({ done: false, value: frame });
    if (this.over) return this.return();
    // An array keeps the room that it once needed.
    this.ready = [];
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      void this.look();
    });
  }

  return(): Promise<Step> {
    this.ready = [];
    this.end();
    return Promise.resolve(OVER);
  }

  wake(): void {
    this.due = true;
    void this.look();
  }

  private async begin(): Promise<Step> {
    const { open } = this;
    this.open = undefined;
    const opening = await open?.();
    // It may have been let go of meanwhile.
    if (this.over || opening === undefined) return OVER;
    this.ready = [...opening.frames];
    if (opening.cursor === undefined) this.over = true;
    else this.follow(opening.cursor);
    return this.next();
  }

  private follow(cursor: number): void {
    const { signal, taskId } = this.reader;
    this.cursor = cursor;
    // Before anything is read, so that nothing falls between a snapshot and the first event after it.
    this.deps.wakeups.listen(`task:${taskId}`, this);
    this.stop = () => this.end();
    signal.addEventListener('abort', this.stop);
    if (signal.aborted) this.end();
  }

  /** Never rejects: what the store refuses is the answer of whoever waits. */
  private async look(): Promise<void> {
    if (this.looking || this.waiting === undefined) return;
    this.looking = true;
    try {
      while (this.due && this.ready.length === 0 && !this.over) await this.readPage();
    } catch (error) {
      const { waiting } = this;
      this.waiting = undefined;
      this.end();
      waiting?.reject(error);
    }
    this.looking = false;
    this.answer();
  }

  private async readPage(): Promise<void> {
    const { store } = this.deps;
    const { owner, taskId } = this.reader;
    this.due = false;
    const page = await store.events(owner, taskId, this.cursor, LIMITS.eventPage);
    const gone = page.length === 0 && !(await store.state(owner, taskId));
    // Nobody wants them any more.
    if (this.over) return;
    if (page.length === LIMITS.eventPage) this.due = true;
    for (const { sequence, body } of page) {
      this.ready.push({ sequence, body });
      this.cursor = sequence;
      if (!endsAt(this.scope, stateOf(body))) continue;
      this.over = true;
      return;
    }
    this.over = gone;
  }

  private answer(): void {
    const { waiting } = this;
    if (waiting === undefined || (this.ready.length === 0 && !this.over)) return;
    this.waiting = undefined;
    waiting.resolve(this.next());
  }

  private end(): void {
    this.over = true;
    if (this.stop) {
      this.reader.signal.removeEventListener('abort', this.stop);
      this.deps.wakeups.unlisten(`task:${this.reader.taskId}`, this);
      this.stop = undefined;
    }
    this.answer();
  }
}
