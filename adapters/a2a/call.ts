import { ServerCallContext } from '@a2a-js/sdk/server';
import type { EdgeProfile } from '../../core/ports/edge.ts';
import type { Caller } from '../../core/principal.ts';
import type { Stoppable } from './lifespan.ts';

/** What the SDK's transport handlers have no room for, kept beside the context that they hand through. */
export interface Call {
  readonly caller: Caller;
  /** By what name the caller's credentials know its tenant. */
  readonly tenant: string | undefined;
  readonly profile: EdgeProfile;
  /** Deduplication id: undefined = the message's own, null = none. */
  readonly key: string | null | undefined;
  readonly deadlineMs: number;
  /** Last-Event-ID of a client that resumes. */
  readonly after: number | undefined;
  /** Stops the waiting, never the task. */
  readonly life: Stoppable;
  readonly frame: FramePlace;
  /** What the handler threw: the SDK would send its text out. */
  failure: { readonly error: unknown } | undefined;
}

/** Of the frame that was given last; the transport handler passes frames on one by one. */
export interface FramePlace {
  sequence: number | undefined;
}

/** Holds the call itself: a weak map from one to the other is work for the garbage collector at every call. */
class CallContext extends ServerCallContext {
  readonly call: Call;

  constructor(call: Call, requestedVersion: string) {
    super({ requestedVersion });
    this.call = call;
  }
}

export function contextOf(call: Call, requestedVersion: string): ServerCallContext {
  return new CallContext(call, requestedVersion);
}

export function callOf(context: ServerCallContext): Call {
  if (!(context instanceof CallContext)) throw new TypeError('a context that no call was opened with');
  return context.call;
}
