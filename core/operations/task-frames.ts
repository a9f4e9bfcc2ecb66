import type { StoredEvent } from '../event.ts';
import { LIMITS } from '../limits.ts';
import type { Listener, Written } from '../ports/wakeups.ts';
import type { OperationDeps } from './deps.ts';
import { endsAt, type Reader, type StreamScope, stateOf } from './follow.ts';
import type { Frame, FrameIterator } from './operations.ts';

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
 * Events come with the wake-up that tells of them, when they are the next ones and somebody waits for them; in every other
 * case they are read from the store, in pages. So nothing is kept for a reader that does not ask, and a wake-up that was
 * lost leaves a gap in the numbers, which is filled by a read.
 *
 * No generator and no waiting function, because thousands of streams stand still at once: while nothing happens there is
 * one promise, and a look into the store that finds nothing leaves nothing behind. The opening is dropped as soon as it is
 * there, and what was given is not kept.
 */
export class TaskFrames implements FrameIterator, Listener {
  private readonly deps: OperationDeps;
  private readonly reader: Reader;
  private readonly scope: StreamScope;
  private open: (() => Promise<Opening>) | undefined;
  private frames: Frame[] = [];
  private cursor = 0;
  private over = false;
  /** Something may have been committed since the last look. */
  private due = true;
  private looking = false;
  private reply: boolean | undefined;
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
    const frame = this.frames.shift();
    if (frame !== undefined) return Promise.resolve({ done: false, value: frame });
    if (this.over) return this.return();
    // An array keeps the room that it once needed.
    this.frames = [];
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      if (this.due) void this.look();
    });
  }

  ready(): Frame | 'over' | undefined {
    return this.frames.shift() ?? (this.over ? 'over' : undefined);
  }

  return(): Promise<Step> {
    this.frames = [];
    this.end();
    return Promise.resolve(OVER);
  }

  wake(_named?: boolean, written?: Written): void {
    // A reader that does not ask is given nothing to keep.
    const idle = this.waiting !== undefined && !this.looking && !this.due;
    if (written !== undefined && this.hear(written, idle)) {
      this.answer();
      return;
    }
    this.due = true;
    void this.look();
  }

  /** True: with it, the reader has everything up to its last event. */
  private hear(written: Written, idle: boolean): boolean {
    const next = this.cursor + 1;
    if (this.over || written.last < next) return true;
    if (!idle || written.first > next) return false;
    this.reply = written.reply;
    this.take(written.first === next ? written.events : written.events.slice(next - written.first));
    return true;
  }

  /** Whether the task, when its last frame was COMPLETED, was so by a bare Message. Undefined: the store knows. */
  get replied(): boolean | undefined {
    return this.reply;
  }

  private async begin(): Promise<Step> {
    const { open } = this;
    this.open = undefined;
    const opening = await open?.();
    // It may have been let go of meanwhile.
    if (this.over || opening === undefined) return OVER;
    this.frames = [...opening.frames];
    if (opening.cursor === undefined) this.over = true;
    else this.follow(opening.cursor);
    return this.next();
  }

  private follow(cursor: number): void {
    const { signal, taskId } = this.reader;
    this.cursor = cursor;
    // Before anything is read, so that nothing falls between a snapshot and the first event after it.
    const told = this.deps.wakeups.listen(`task:${taskId}`, this);
    this.due = told === undefined || !this.hear(told, true);
    this.stop = () => this.end();
    signal.addEventListener('abort', this.stop);
    if (signal.aborted) this.end();
  }

  /** Never rejects: what the store refuses is the answer of whoever waits. */
  private async look(): Promise<void> {
    if (this.looking || this.waiting === undefined) return;
    this.looking = true;
    try {
      while (this.due && this.frames.length === 0 && !this.over) await this.readPage();
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
    this.reply = undefined;
    this.take(page);
    this.over ||= gone;
  }

  private take(events: readonly StoredEvent[]): void {
    for (const { sequence, body } of events) {
      this.frames.push({ sequence, body });
      this.cursor = sequence;
      if (!endsAt(this.scope, stateOf(body))) continue;
      this.over = true;
      return;
    }
  }

  private answer(): void {
    const { waiting } = this;
    if (waiting === undefined || (this.frames.length === 0 && !this.over)) return;
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
