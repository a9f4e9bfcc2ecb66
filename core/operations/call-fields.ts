import type { LogFields } from '../ports/telemetry.ts';
import type { Caller } from '../principal.ts';

/** Who calls and how, for logs and traces. `edge`: of calls that do not say how they came. */
export function callFields(caller: Caller, edge?: { readonly name: string }): LogFields {
  const { owner, binding = edge?.name, version } = caller;
  return { tenant: owner.tenant, principal: owner.principal, binding, version };
}
