import type { StreamResponse } from '@a2a-js/sdk';
import type { Frame, FrameIterator, FrameStream } from '../../core/operations/operations.ts';
import type { FramePlace } from './call.ts';
import { toSdkEvent } from './codec.ts';

type Open = () => Promise<FrameStream>;
type Step = IteratorResult<StreamResponse, undefined>;

const OVER: Step = { done: true, value: undefined };

/**
 * Core's frames, and the same as the SDK wants them: read it in one way or in the other. What opens them is dropped as
 * soon as they are open: the message of a stream must not lie in memory for as long as the stream waits. No generator,
 * because each that waits keeps a frame and a promise.
 */
export class ResponseStream implements AsyncGenerator<StreamResponse, undefined, undefined> {
  private readonly place: FramePlace;
  private open: Open | undefined;
  private frames: FrameIterator | undefined;
  private over = false;

  /** `open` is called when the first frame is asked for, `place` told which one was given to the SDK last. */
  constructor(place: FramePlace, open: Open) {
    this.place = place;
    this.open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Undefined: the stream is over. */
  frame(): Promise<Frame | undefined> {
    if (this.over) return Promise.resolve(undefined);
    if (this.frames === undefined) return this.begin();
    return this.frames.next().then(({ done, value }) => (this.over || done ? undefined : this.shown(value)));
  }

  /** A frame that need not be waited for. */
  ready(): Frame | 'over' | undefined {
    if (this.over) return 'over';
    const frame = this.frames?.ready?.();
    return typeof frame === 'object' ? this.shown(frame) : frame;
  }

  next(): Promise<Step> {
    return this.frame().then((frame) => {
      if (frame === undefined) return OVER;
      this.place.sequence = frame.sequence;
      return { done: false, value: toSdkEvent(frame.body) };
    });
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

  private async begin(): Promise<Frame | undefined> {
    const { open } = this;
    this.open = undefined;
    this.frames = (await open?.())?.[Symbol.asyncIterator]();
    if (!this.over) return this.frame();
    await this.return();
  }

  private shown(frame: Frame): Frame {
    // A Message is the whole stream (3.1.2). It is given whatever becomes of the rest.
    if ('message' in frame.body) this.return().catch(() => undefined);
    return frame;
  }
}
