import type { StreamResponse } from '@a2a-js/sdk';
import type { Frame } from '../../core/operations/operations.ts';
import type { FramePlace } from './call.ts';
import { toSdkEvent } from './codec.ts';

type Open = () => Promise<AsyncIterable<Frame>>;
type Step = IteratorResult<StreamResponse, undefined>;

const OVER: Step = { done: true, value: undefined };

/**
 * Core's frames as the SDK wants them. What opens them is dropped as soon as they are open: the message of a stream must
 * not lie in memory for as long as the stream waits. No generator, because each that waits keeps a frame and a promise.
 */
export class ResponseStream implements AsyncGenerator<StreamResponse, undefined, undefined> {
  private readonly place: FramePlace;
  private open: Open | undefined;
  private frames: AsyncIterator<Frame> | undefined;
  private over = false;

  /** `open` is called when the first frame is asked for, `place` told which one was given last. */
  constructor(place: FramePlace, open: Open) {
    this.place = place;
    this.open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (this.over) return Promise.resolve(OVER);
    if (this.frames === undefined) return this.begin();
    return this.frames.next().then((step) => this.shown(step));
  }

  async return(): Promise<Step> {
    this.over = true;
    await this.frames?.return?.();
    return OVER;
  }

  async throw(error: unknown): Promise<never> {
    await this.return();
    throw error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  private async begin(): Promise<Step> {
    const { open } = this;
    this.open = undefined;
    this.frames = (await open?.())?.[Symbol.asyncIterator]();
    if (this.over) return this.return();
    return this.next();
  }

  private shown({ done, value }: IteratorResult<Frame>): Step | Promise<Step> {
    if (this.over || done) return OVER;
    this.place.sequence = value.sequence;
    const shown = { done: false, value: toSdkEvent(value.body) } as const;
    // A Message is the whole stream (3.1.2).
    return 'message' in value.body ? this.return().then(() => shown) : shown;
  }
}
