import { OPERATOR_ACTS } from '../ports/operator-store.ts';
import { type Finding, quoted } from './findings.ts';
import type { AuditFacts, StoredFacts, TenantFacts } from './stored-facts.ts';
import { parseObject } from './stored-json.ts';

/* What belongs to no task: tenants, their pauses, tokens, and the book of what operators did. */

type Report = (finding: Finding) => void;

const ACTS: ReadonlySet<string> = new Set(OPERATOR_ACTS);
/** A person is in the book as the log shows them. */
const PSEUDONYM = /^[0-9a-f]{12}$/;
/** Compact JWE: five parts. A token in clear has one, or three. */
const SEALED = /^[\w-]+\.[\w-]*\.[\w-]+\.[\w-]+\.[\w-]+$/;

export async function checkCredentials(facts: StoredFacts, staleAfterMs: number, report: Report): Promise<void> {
  for await (const { tenant, principal, needed, tenantStatus, expiresAt, hash, sealed } of facts.credentials()) {
    const say = (detail: string) =>
      report({ rule: 'credential', detail: `principal ${principal} of tenant ${quoted(tenant)}: ${detail}` });
    if (tenantStatus === 'removed') say('the tenant is removed');
    else if (!needed) say('every task has ended');
    if (facts.now - expiresAt > staleAfterMs) say('it has expired');
    if (hash === '') say('it has no digest');
    if (sealed !== undefined && !SEALED.test(sealed)) say('it is not sealed');
  }
}

function faultOf({ status, attributesJson, removed }: TenantFacts): string | undefined {
  if (status !== 'active' && status !== 'removed') return `has status ${quoted(status)}`;
  if ((status === 'removed') !== removed) return `is ${status} and ${removed ? 'was' : 'was never'} removed`;
  return parseObject(attributesJson) ? undefined : 'has attributes that cannot be read';
}

export async function checkTenants(facts: StoredFacts, staleAfterMs: number, report: Report): Promise<void> {
  for await (const tenant of facts.tenants()) {
    const fault = faultOf(tenant);
    if (fault) report({ rule: 'tenant', detail: `${quoted(tenant.id)} ${fault}` });
  }
  for await (const { id, removedForMs, tasks } of facts.removedTenants()) {
    if (removedForMs <= staleAfterMs) continue;
    report({
      rule: 'removed-tenant',
      detail: `${quoted(id)} was removed ${Math.round(removedForMs / 60_000)} min ago and has ${tasks} tasks`,
    });
  }
  for await (const { tenant, since, tenantStatus } of facts.pauses()) {
    const whose = tenant === undefined ? 'that of every runner' : `that of ${quoted(tenant)}`;
    if (since <= 0) report({ rule: 'pause', detail: `${whose} has no beginning` });
    if (tenantStatus === 'removed') report({ rule: 'pause', detail: `${whose} is of a removed tenant` });
  }
}

/** What it does not say although the act needs it. */
function missing({ act, tenant, principal, taskId, ordinal }: AuditFacts): string | undefined {
  const [noun] = act.split('.', 1);
  if ((noun === 'execution' || noun === 'task') && taskId === undefined) return 'names no task';
  if (noun === 'execution' && ordinal === undefined) return 'names no turn';
  if (noun === 'tenant' && tenant === undefined) return 'names no tenant';
  if (noun === 'principal' && principal === undefined) return 'names nobody';
  return undefined;
}

export async function checkAudit(facts: StoredFacts, report: Report): Promise<void> {
  let last = 0;
  for await (const entry of facts.audit()) {
    const { number, at, actor, act, principal, detailJson } = entry;
    const say = (detail: string) => report({ rule: 'audit', detail: `row ${number} ${detail}` });
    // Rows are never deleted, and one that is rolled back takes no number.
    if (number !== last + 1) say(`comes after row ${last}`);
    last = number;
    if (!ACTS.has(act)) say(`is of an act ${quoted(act)}`);
    if (actor === '') say('was done by nobody');
    if (at <= 0) say('has no time');
    const lack = missing(entry);
    if (lack) say(lack);
    if (principal !== undefined && !PSEUDONYM.test(principal)) say('names a person in clear');
    if (detailJson !== undefined && !parseObject(detailJson)) {
      report({ rule: 'unreadable', detail: `the detail of audit row ${number}` });
    }
  }
}
