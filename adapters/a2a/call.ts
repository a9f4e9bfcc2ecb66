import { ServerCallContext } from '@a2a-js/sdk/server';
import type { EdgeProfile } from '../../core/ports/edge.ts';
import type { Caller } from '../../core/principal.ts';

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
  readonly signal: AbortSignal;
  readonly frame: FramePlace;
  /** What the handler threw: the SDK would send its text out. */
  failure: { readonly error: unknown } | undefined;
}

/** Of the frame that was given last; the transport handler passes frames on one by one. */
export interface FramePlace {
  sequence: number | undefined;
}

const calls = new WeakMap<ServerCallContext, Call>();

export function contextOf(call: Call, requestedVersion: string): ServerCallContext {
  const context = new ServerCallContext({ requestedVersion });
  calls.set(context, call);
  return context;
}

export function callOf(context: ServerCallContext): Call {
  const call = calls.get(context);
  if (call === undefined) throw new TypeError('a context that no call was opened with');
  return call;
}
