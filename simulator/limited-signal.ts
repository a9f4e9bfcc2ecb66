/** Fires with `outer` or when its time is up; `expired` tells which. `clear` must be called in the end. */
export interface LimitedSignal {
  readonly signal: AbortSignal;
  readonly expired: boolean;
  clear(): void;
}

/** A plain timer on purpose: AbortSignal.timeout inside AbortSignal.any was seen never to fire on Node 20. */
export function limitedSignal(ms: number, outer: AbortSignal | undefined): LimitedSignal {
  const controller = new AbortController();
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    controller.abort(new DOMException('The time is up', 'TimeoutError'));
  }, ms);
  const follow = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) follow();
  else outer?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    clear() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', follow);
    },
  };
}
