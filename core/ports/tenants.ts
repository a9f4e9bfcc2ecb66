import type { JsonObject } from '../message.ts';

export type TenantStatus = 'active' | 'removed';

export interface Tenant {
  readonly id: string;
  readonly status: TenantStatus;
  /** What the edge keeps about it (API base, site URL …). No secret. */
  readonly attributes: JsonObject;
  /** Milliseconds since it was removed, by the store's clock; absent while active. */
  readonly removedForMs?: number;
}

/** Installations of an edge. A tenant without a row counts as active: only edges that register tenants have rows. */
export interface Tenants {
  get(id: string): Promise<Tenant | undefined>;
  /**
   * Creates the tenant or merges `attributes` into it. Idempotent. A removed tenant stays removed, unless it was
   * removed at least `reviveAfterMs` ago: then it comes back empty. Answers the tenant as it then is.
   */
  put(id: string, attributes: JsonObject, options?: { readonly reviveAfterMs?: number }): Promise<Tenant>;
  /** Commits status `removed` and deletes the tenant's credentials, which fences every lease of it. Idempotent. */
  remove(id: string): Promise<void>;
  /**
   * Erases up to `limit` tasks of a removed tenant with all that hangs on them. Answers how many went; 0 = nothing
   * is left but the tenant row.
   */
  erase(id: string, limit: number): Promise<number>;
  /** Removed tenants that still have data. */
  removedWithData(limit: number): Promise<readonly string[]>;
}
