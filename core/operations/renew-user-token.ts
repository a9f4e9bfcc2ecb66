import { decideResume } from '../decide/end.ts';
import type { Caller } from '../principal.ts';
import type { OperationDeps } from './deps.ts';

/** Every call of a user whose token came along keeps it fresh and wakes the tasks that wait for one. */
export async function renewUserToken(deps: OperationDeps, caller: Caller): Promise<void> {
  if (!caller.userToken) return;
  const subject = { tenant: caller.owner.tenant, principal: caller.owner.principal };
  const credential = await deps.vault.hold(subject, caller.userToken);
  const { resumed } = await deps.store.renewCredential(subject, credential, (view) =>
    decideResume(view, credential.hash),
  );
  for (const taskId of resumed) {
    deps.telemetry.event('info', 'task.resumed', { taskId, tenant: subject.tenant });
  }
}
