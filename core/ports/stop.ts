/** Tells those who wait that they wait no more. Every AbortSignal is one. */
export interface Stop {
  readonly aborted: boolean;
  /** `listener` is called at most once, and not any more once it is aborted. It must not throw. */
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
