import type { Message } from '../core/message.ts';
import type { Capabilities, Invocation, Jira } from '../core/ports/agent.ts';
import type { Claimed, TaskStore } from '../core/ports/task-store.ts';
import type { Tenant, Tenants } from '../core/ports/tenants.ts';
import type { Vault } from '../core/ports/vault.ts';

export interface UserJiraOptions {
  readonly tenant: Tenant;
  /** Asks store and vault at each call, so that a renewed token is used at once. */
  readonly token: () => Promise<{ readonly token: string; readonly hash: string } | undefined>;
  readonly signal: AbortSignal;
  readonly deadlineAt?: number;
}

export interface JiraCapabilitiesDeps {
  readonly store: TaskStore;
  readonly tenants: Tenants;
  readonly vault: Vault;
  readonly invocationOf: (message: Message) => Invocation | undefined;
  readonly jiraFor: (options: UserJiraOptions) => Jira;
}

/** What a turn of a Rovo task may use: what invoked it, and Jira as the invoking user. Other tasks get nothing. */
export function createJiraCapabilities(deps: JiraCapabilitiesDeps) {
  return async ({ record, message }: Claimed, signal: AbortSignal): Promise<Capabilities> => {
    if (!record.owner.tenant.startsWith('rovo:')) return {};
    const tenant = await deps.tenants.get(record.owner.tenant);
    if (!tenant) return {};
    const subject = { tenant: tenant.id, principal: record.owner.principal };
    const token = async () => {
      const credential = await deps.store.credential(subject);
      const revealed = credential && (await deps.vault.reveal(subject, credential));
      return credential && revealed !== undefined ? { token: revealed, hash: credential.hash } : undefined;
    };
    const invocation = deps.invocationOf(message);
    return {
      ...(invocation ? { invocation } : {}),
      jira: deps.jiraFor({
        tenant,
        token,
        signal,
        ...(record.deadlineAt !== undefined ? { deadlineAt: record.deadlineAt } : {}),
      }),
    };
  };
}
