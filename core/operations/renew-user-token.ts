import { rule } from '../decide/rules.ts';
import { observeStore } from '../observed-store.ts';
import type { Credential } from '../ports/vault.ts';
import type { Caller } from '../principal.ts';
import { callFields } from './call-fields.ts';
import type { OperationDeps } from './deps.ts';

/**
 * Every call of a user whose token came along keeps it fresh and wakes the tasks that wait for one. `held`: what the
 * vault made of that token already.
 */
export async function renewUserToken(deps: OperationDeps, caller: Caller, held?: Credential): Promise<void> {
  if (!caller.userToken) return;
  const { telemetry } = deps;
  const subject = { tenant: caller.owner.tenant, principal: caller.owner.principal };
  const credential = held ?? (await deps.vault.hold(subject, caller.userToken));
  const fields = { ...callFields(caller), trace: caller.trace };
  const store = observeStore(deps.store, { telemetry, fields });
  const { resumed } = await store.renewCredential(subject, credential, rule('resume', { tokenHash: credential.hash }));
  for (const taskId of resumed) telemetry.event('info', 'task.resumed', { taskId, ...fields });
}
