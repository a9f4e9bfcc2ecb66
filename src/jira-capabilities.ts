import type { Message } from '../core/message.ts';
import type { Capabilities, Invocation, Jira } from '../core/ports/agent.ts';
import type { Claimed, TaskStore } from '../core/ports/task-store.ts';
import type { Telemetry } from '../core/ports/telemetry.ts';
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
  /** The site's own URL, asked of Jira as the user; undefined when Jira does not tell. */
  readonly siteUrlFor: (options: UserJiraOptions) => Promise<string | undefined>;
  readonly telemetry: Telemetry;
}

/** What a turn of a Rovo task may use: what invoked it, and Jira as the invoking user. Other tasks get nothing. */
export function createJiraCapabilities(deps: JiraCapabilitiesDeps) {
  /** Tenants whose site was asked for its URL by this process. */
  const asked = new Set<string>();

  /** Some invocation tokens name no site; the link in AUTH_REQUIRED needs one, and then there is no token to ask with. */
  function learnSiteUrl(options: UserJiraOptions): void {
    const { tenant } = options;
    if (tenant.attributes.siteUrl !== undefined || asked.has(tenant.id)) return;
    asked.add(tenant.id);
    const learn = async (): Promise<void> => {
      const siteUrl = await deps.siteUrlFor(options);
      if (siteUrl !== undefined) await deps.tenants.put(tenant.id, { siteUrl });
    };
    learn().catch((error: unknown) => {
      asked.delete(tenant.id);
      deps.telemetry.event('debug', 'jira.site_url_unknown', { tenant: tenant.id }, error);
    });
  }

  return async ({ record, message }: Claimed, turn: { readonly signal: AbortSignal }): Promise<Capabilities> => {
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
    const asUser: UserJiraOptions = {
      tenant,
      token,
      signal: turn.signal,
      ...(record.deadlineAt !== undefined ? { deadlineAt: record.deadlineAt } : {}),
    };
    learnSiteUrl(asUser);
    return { ...(invocation ? { invocation } : {}), jira: deps.jiraFor(asUser) };
  };
}
