import { createHash } from 'node:crypto';
import type BetterSqlite3 from 'better-sqlite3';
import type { AuditFacts, CredentialFacts, StoredFacts } from '../../core/verify/stored-facts.ts';
import { present } from './column-values.ts';

/* What the verifier wants to know beside the tasks. */

const ENDED = "('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')";
const SELECT_CREDENTIALS = `select c.tenant, c.principal, c.hash, c.expires_at, c.sealed, coalesce(n.status, 'active') as tenant_status,
    exists (select 1 from owner o join task t on t.owner = o.pk
      where o.tenant = c.tenant and o.principal = c.principal and t.state not in ${ENDED}) as needed
  from credential c left join tenant n on n.id = c.tenant order by c.tenant, c.principal`;
const SELECT_REMOVED = `select n.id, n.removed_at,
    (select count(*) from owner o join task t on t.owner = o.pk where o.tenant = n.id) as tasks
  from tenant n where n.status = 'removed' and exists (select 1 from owner o where o.tenant = n.id) order by n.id`;
const SELECT_TENANTS = 'select id, status, attributes, removed_at from tenant order by id';
const SELECT_PAUSES = `select p.tenant, p.since, coalesce(n.status, 'active') as tenant_status
  from tenant_pause p left join tenant n on n.id = p.tenant
  union all select null, since, 'active' from runner_pause order by 1`;
const SELECT_AUDIT = 'select pk, at, actor, act, tenant, principal, task, ordinal, detail from audit order by pk';

interface CredentialRow {
  readonly tenant: string;
  readonly principal: string;
  readonly tenant_status: 'active' | 'removed';
  readonly needed: number;
  readonly hash: string;
  readonly expires_at: number;
  readonly sealed: string | null;
}

interface TenantRow {
  readonly id: string;
  readonly status: string;
  readonly attributes: string;
  readonly removed_at: number | null;
}

interface PauseRow {
  readonly tenant: string | null;
  readonly since: number;
  readonly tenant_status: 'active' | 'removed';
}

interface AuditRow {
  readonly pk: number;
  readonly at: number;
  readonly actor: string;
  readonly act: string;
  readonly tenant: string | null;
  readonly principal: string | null;
  readonly task: string | null;
  readonly ordinal: number | null;
  readonly detail: string | null;
}

type Books = Pick<StoredFacts, 'credentials' | 'tenants' | 'removedTenants' | 'pauses' | 'audit'>;

export function bookFacts(db: BetterSqlite3.Database, now: number): Books {
  const selectCredentials = db.prepare<[], CredentialRow>(SELECT_CREDENTIALS);
  const selectRemoved = db.prepare<[], { id: string; removed_at: number | null; tasks: number }>(SELECT_REMOVED);
  const selectTenants = db.prepare<[], TenantRow>(SELECT_TENANTS);
  const selectPauses = db.prepare<[], PauseRow>(SELECT_PAUSES);
  const selectAudit = db.prepare<[], AuditRow>(SELECT_AUDIT);

  return {
    *credentials() {
      for (const row of selectCredentials.iterate()) yield toCredential(row);
    },
    *removedTenants() {
      for (const { id, removed_at, tasks } of selectRemoved.iterate()) {
        yield { id, removedForMs: now - (removed_at ?? now), tasks };
      }
    },
    *tenants() {
      for (const { id, status, attributes, removed_at } of selectTenants.iterate()) {
        yield { id, status, attributesJson: attributes, removed: removed_at !== null };
      }
    },
    *pauses() {
      for (const { tenant, since, tenant_status } of selectPauses.iterate()) {
        yield { ...present('tenant', tenant), since, tenantStatus: tenant_status };
      }
    },
    *audit() {
      for (const row of selectAudit.iterate()) yield toAudit(row);
    },
  };
}

/** As the logs name a principal. */
function hashed(principal: string): string {
  return createHash('sha256').update(principal).digest('hex').slice(0, 12);
}

function toCredential(row: CredentialRow): CredentialFacts {
  return {
    tenant: row.tenant,
    principal: hashed(row.principal),
    tenantStatus: row.tenant_status,
    needed: row.needed === 1,
    expiresAt: row.expires_at,
    hash: row.hash,
    ...present('sealed', row.sealed),
  };
}

function toAudit(row: AuditRow): AuditFacts {
  return {
    number: row.pk,
    at: row.at,
    actor: row.actor,
    act: row.act,
    ...present('tenant', row.tenant),
    ...present('principal', row.principal),
    ...present('taskId', row.task),
    ...present('ordinal', row.ordinal),
    ...present('detailJson', row.detail),
  };
}
