import { canonicalMessage } from '../decide/fingerprint.ts';
import { rule } from '../decide/rules.ts';
import { messageIn } from '../decide/send.ts';
import { isDomainError } from '../errors.ts';
import type { Message } from '../message.ts';
import { observeStore } from '../observed-store.ts';
import type { EdgeProfile, Incoming } from '../ports/edge.ts';
import type { Begun } from '../ports/slots.ts';
import type { Accepted, AcceptRequest, AnswerKind, Claimed, TaskRecord } from '../ports/task-store.ts';
import type { LogFields, Telemetry } from '../ports/telemetry.ts';
import type { Credential } from '../ports/vault.ts';
import { callFields } from './call-fields.ts';
import type { OperationDeps } from './deps.ts';
import { renewUserToken } from './renew-user-token.ts';

/** The one commit that accepts a message (or recognises a repeat). Nothing runs and nothing is answered before it. */
export async function acceptMessage(
  deps: OperationDeps,
  edge: EdgeProfile,
  incoming: Incoming,
  answer: AnswerKind,
): Promise<Accepted> {
  const { caller, message } = incoming;
  const { telemetry } = deps;
  const fingerprint = deps.digest(canonicalMessage(message));
  const { tenant, principal } = caller.owner;
  const credential = caller.userToken && (await deps.vault.hold({ tenant, principal }, caller.userToken));
  const request = requestOf(incoming, fingerprint, credential);
  const said = callFields(caller, edge);
  let accepted: Accepted;
  try {
    accepted = await telemetry.span('store.commit', { fields: () => ({ ...said, call: 'accept' }) }, async (span) => {
      // The turn becomes a child of the commit that opened it, also when another process runs it.
      const trace = span.traceparent ?? caller.trace;
      const store = observeStore(deps.store, { telemetry, fields: { trace, ...said } });
      const newTaskId = deps.ids.next();
      const send = rule('send', {
        message,
        fingerprint,
        policy: edge.contextPolicy,
        ...(deps.queueMax ? { queueMax: deps.queueMax } : {}),
        answer,
        deadlineMs: incoming.deadlineMs,
        newTaskId,
        newContextId: deps.ids.next(),
        ...(caller.delegate ? { delegate: caller.delegate } : {}),
        ...(trace ? { trace } : {}),
      });
      const slot = deps.slots?.reserve(caller.owner, newTaskId);
      let result: Accepted;
      try {
        result = await store.accept(slot ? { lease: slot.lease, ...request } : request, send);
      } catch (error) {
        slot?.release();
        throw error;
      }
      // Here and not later, or the turn would be a child of the call and not of this commit.
      if (result.begun) slot?.begin(claimedOf(result.record, result.begun, message));
      else slot?.release();
      const { id: taskId, contextId } = result.record;
      span.set({ taskId, contextId, kind: result.kind });
      return result;
    });
  } catch (error) {
    sayRefusal(telemetry, { ...said, trace: caller.trace }, error);
    throw error;
  }
  telemetry.count('a2a_messages_accepted_total', { edge: edge.name, kind: accepted.kind });
  // Tasks of the same person that are parked for a token go on with this one, too. The message is accepted either way.
  if (credential) {
    await renewUserToken(deps, caller, credential).catch((error: unknown) => {
      telemetry.event('warn', 'token.renewal_failed', said, error);
    });
  }
  return accepted;
}

function sayRefusal(telemetry: Telemetry, said: LogFields, error: unknown): void {
  if (isDomainError(error, 'OVERLOADED') && error.limit) {
    telemetry.count('a2a_refusals_total', { limit: error.limit });
  }
  // Known to the edge, and no longer to the store: whoever removed the tenant has to find its callers in the log.
  if (isDomainError(error, 'UNAUTHENTICATED')) {
    const { code, message: reason } = error;
    telemetry.event('info', 'authentication.refused', { ...said, code, reason });
  }
}

/** A turn that began with its acceptance, as a claim would have brought it. */
function claimedOf(accepted: TaskRecord, { fence, status, sequence, trace }: Begun, message: Message): Claimed {
  const claimed = {
    fence,
    record: { ...accepted, status, sequence },
    message: messageIn(accepted, message),
    lost: false,
    pending: [],
  };
  return trace === undefined ? claimed : { ...claimed, trace };
}

function requestOf(incoming: Incoming, fingerprint: string, credential: Credential | undefined): AcceptRequest {
  const { taskId, contextId } = incoming.message;
  return {
    owner: incoming.caller.owner,
    ...(incoming.key !== undefined
      ? { key: { contextId: contextId ?? '', messageId: incoming.key, fingerprint } }
      : {}),
    ...(taskId !== undefined ? { taskId } : {}),
    ...(contextId !== undefined ? { contextId } : {}),
    ...(credential ? { credential } : {}),
    ...(incoming.pushConfig ? { pushConfig: incoming.pushConfig } : {}),
  };
}
