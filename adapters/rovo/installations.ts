import type { JsonObject } from '../../core/message.ts';
import type { Tenants } from '../../core/ports/tenants.ts';
import type { InvocationClaims } from './claims.ts';
import type { ForgeAppId } from './forge-ids.ts';

/*
 * An installation's life. Events come twice, late and out of order, and one that was missed must not lock a site out:
 * so a valid call creates the tenant, removal wins over everything that is still on its way, and only a call long
 * after a removal shows that the uninstall failed.
 */

/** Calls of a removed installation are refused for so long. After it they prove that it is still installed. */
const REVIVE_AFTER_MS = 600_000;

/** What a tenant is known by, from the claims of its calls. */
const CLAIMED = ['cloudId', 'apiBaseUrl', 'siteUrl', 'environmentId'] as const;

export function tenantId(claims: InvocationClaims): string {
  return `rovo:${claims.installationId}`;
}

export interface Installations {
  /** A user's call. Answers whether the installation is active, and with it the call admitted. */
  admit(claims: InvocationClaims): Promise<boolean>;
  /** An installed or upgraded event. Answers whether the installation is active. */
  register(claims: InvocationClaims): Promise<boolean>;
  /** Also one that was never heard of: an installed event may still be on its way. */
  remove(claims: InvocationClaims): Promise<void>;
}

export function createInstallations(options: { readonly app: ForgeAppId; readonly tenants: Tenants }): Installations {
  const { app, tenants } = options;

  function attributesOf(claims: InvocationClaims): JsonObject {
    const attributes: Record<string, string> = { appId: app.uuid };
    for (const name of CLAIMED) {
      const value = claims[name];
      if (value !== undefined) attributes[name] = value;
    }
    return attributes;
  }

  async function settle(claims: InvocationClaims, put: { readonly reviveAfterMs?: number }): Promise<boolean> {
    const id = tenantId(claims);
    const attributes = attributesOf(claims);
    const tenant = await tenants.get(id);
    if (tenant?.status === 'removed') {
      if (put.reviveAfterMs === undefined || (tenant.removedForMs ?? 0) < put.reviveAfterMs) return false;
    } else if (tenant && Object.entries(attributes).every(([name, value]) => tenant.attributes[name] === value)) {
      return true; // every call comes through here: no write unless something changed
    }
    return (await tenants.put(id, attributes, put)).status === 'active';
  }

  return {
    admit: (claims) => settle(claims, { reviveAfterMs: REVIVE_AFTER_MS }),
    register: (claims) => settle(claims, {}),
    remove: (claims) => tenants.remove(tenantId(claims)),
  };
}
