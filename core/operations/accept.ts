import { canonicalMessage } from '../decide/fingerprint.ts';
import { decideSend } from '../decide/send.ts';
import type { EdgeProfile, Incoming } from '../ports/edge.ts';
import type { Accepted, AnswerKind } from '../ports/task-store.ts';
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
  const { owner, userToken } = caller;
  const { taskId, contextId } = message;
  const fingerprint = deps.digest(canonicalMessage(message));
  const credential = userToken
    ? await deps.vault.hold({ tenant: owner.tenant, principal: owner.principal }, userToken)
    : undefined;
  const accepted = await deps.store.accept(
    {
      owner,
      ...(incoming.key !== undefined
        ? { key: { contextId: contextId ?? '', messageId: incoming.key, fingerprint } }
        : {}),
      ...(taskId !== undefined ? { taskId } : {}),
      ...(contextId !== undefined ? { contextId } : {}),
      ...(credential ? { credential } : {}),
      ...(incoming.pushConfig ? { pushConfig: incoming.pushConfig } : {}),
    },
    (view) =>
      decideSend(view, {
        message,
        fingerprint,
        policy: edge.contextPolicy,
        answer,
        deadlineMs: incoming.deadlineMs,
        newTaskId: deps.ids.next(),
        newContextId: deps.ids.next(),
        ...(caller.delegate ? { delegate: caller.delegate } : {}),
        ...(caller.trace ? { trace: caller.trace } : {}),
      }),
  );
  const { record } = accepted;
  deps.telemetry.event('info', 'task.accepted', {
    taskId: record.id,
    contextId: record.contextId,
    tenant: owner.tenant,
    principal: deps.digest(owner.principal).slice(0, 12),
    binding: edge.name,
    kind: accepted.kind,
    trace: caller.trace,
  });
  deps.telemetry.count('a2a_messages_accepted_total', { edge: edge.name, kind: accepted.kind });
  // Tasks of the same person that are parked for a token go on with this one, too. The message is accepted either way.
  await renewUserToken(deps, caller).catch((error: unknown) => {
    deps.telemetry.event('warn', 'token.renewal_failed', { tenant: owner.tenant }, error);
  });
  return accepted;
}
