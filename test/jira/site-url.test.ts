import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readSiteUrl } from '../../adapters/jira/server-info.ts';
import { openSqliteStore } from '../../adapters/sqlite/open.ts';
import type { Jira } from '../../core/ports/agent.ts';
import type { Claimed } from '../../core/ports/task-store.ts';
import type { Vault } from '../../core/ports/vault.ts';
import { createWakeups } from '../../core/runtime/wakeups.ts';
import { startAtlassian } from '../../simulator/atlassian.ts';
import { createJiraCapabilities, type UserJiraOptions } from '../../src/jira-capabilities.ts';
import { systemClock } from '../../src/system-clock.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

const TENANT = 'rovo:aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';

function claimed(): Claimed {
  const owner = { tenant: TENANT, principal: 'alice', agent: 'agent' };
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] } as const;
  return {
    fence: { taskId: 't', ordinal: 1, worker: 'w', attempt: 1 },
    record: {
      id: 't',
      owner,
      contextId: 'c',
      status: { state: 'TASK_STATE_WORKING', timestamp: new Date(0).toISOString() },
      reply: false,
      sequence: 1,
      messages: 1,
      createdAt: 0,
      updatedAt: 0,
    },
    message,
    lost: false,
    pending: [],
  };
}

describe("the site's own URL", () => {
  it('is asked of Jira once when the invocation token named none, and kept on the tenant', async (t) => {
    const atlassian = await startAtlassian();
    t.after(() => atlassian.close());
    const { store, tenants } = await openSqliteStore({
      path: join(await tempDir(t), 'store.db'),
      clock: systemClock,
      wakeups: createWakeups(systemClock),
    });
    t.after(() => store.close());
    await tenants.put(TENANT, { apiBaseUrl: atlassian.apiBaseUrl });
    const token = atlassian.userToken('alice');
    let asked = 0;
    const capabilities = createJiraCapabilities({
      store,
      tenants,
      vault: {} as Vault,
      invocationOf: () => undefined,
      jiraFor: () => ({}) as Jira,
      siteUrlFor: ({ tenant, signal }: UserJiraOptions) => {
        asked += 1;
        return readSiteUrl({
          apiBaseUrl: String(tenant.attributes.apiBaseUrl),
          allowedHosts: [new URL(atlassian.apiBaseUrl).host],
          token: async () => ({ token, hash: 'h' }),
          explainAuthorization: () => 'not needed',
          clock: systemClock,
          telemetry: silentTelemetry,
          signal,
        });
      },
      telemetry: silentTelemetry,
    });
    const { signal } = new AbortController();
    await Promise.all([capabilities(claimed(), { signal }), capabilities(claimed(), { signal })]);
    await until('the site URL is kept', async () => (await tenants.get(TENANT))?.attributes.siteUrl !== undefined);
    assert.equal((await tenants.get(TENANT))?.attributes.siteUrl, atlassian.site.siteUrl);
    await capabilities(claimed(), { signal });
    assert.equal(asked, 1);
  });
});
