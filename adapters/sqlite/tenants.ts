import type { JsonObject } from '../../core/message.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Tenant, TenantStatus, Tenants } from '../../core/ports/tenants.ts';
import type { Connection, Query } from './database.ts';
import { ERASE_BATCH, type Erasure, eraseInBatches } from './erasure.ts';
import type { GroupCommit, Transaction } from './group-commit.ts';
import { LIMIT } from './limit.ts';

const SELECT_TENANT = 'select id, status, attributes, removed_at from tenant where id = ?';
const UPSERT_TENANT = `insert into tenant (id, status, attributes, removed_at) values (?, ?, ?, ?)
  on conflict (id) do update
  set status = excluded.status, attributes = excluded.attributes, removed_at = excluded.removed_at`;
const DELETE_PAUSE = 'delete from tenant_pause where tenant = ?';
const DELETE_CREDENTIALS = 'delete from credential where tenant = ?';
/** An owner goes with its last task. */
const SELECT_ANY_OWNER = 'select 1 as one from owner where tenant = ? limit 1';
const SELECT_REMOVED = `select id from tenant n where status = 'removed'
  and exists (select 1 from owner o where o.tenant = n.id) order by removed_at ${LIMIT}`;

interface TenantRow {
  readonly id: string;
  readonly status: TenantStatus;
  readonly attributes: string;
  readonly removed_at: number | null;
}

interface TenantsOptions {
  readonly connection: Connection;
  readonly writes: GroupCommit;
  readonly clock: Clock;
  readonly erasure: Erasure;
}

export interface SqliteTenants extends Tenants {
  /** `remove` as part of somebody's transaction. */
  removeWithin(id: string, tx: Transaction): void;
  /**
   * Makes a removed tenant active, after erasing what is left of it; `note` is called in the same transaction. False: it
   * is not removed.
   */
  restore(id: string, note: (tx: Transaction) => void): Promise<boolean>;
}

export function createTenants({ connection, writes, clock, erasure }: TenantsOptions): SqliteTenants {
  const select: Query<[id: string], TenantRow> = connection.prepare(SELECT_TENANT);
  const upsert: Query<[id: string, status: TenantStatus, attributes: string, removedAt: number | null], unknown> =
    connection.prepare(UPSERT_TENANT);
  const deleteCredentials: Query<[tenant: string], unknown> = connection.prepare(DELETE_CREDENTIALS);
  const deletePause: Query<[tenant: string], unknown> = connection.prepare(DELETE_PAUSE);
  const selectAnyOwner: Query<[tenant: string], unknown> = connection.prepare(SELECT_ANY_OWNER);
  const selectRemoved: Query<[limit: number], { id: string }> = connection.prepare(SELECT_REMOVED);

  function save(tenant: { readonly id: string; readonly attributes: JsonObject }, removedAt: number | null): TenantRow {
    const attributes = JSON.stringify(tenant.attributes);
    const status = removedAt === null ? 'active' : 'removed';
    upsert.run(tenant.id, status, attributes, removedAt);
    return { id: tenant.id, status, attributes, removed_at: removedAt };
  }

  /** The tenant as it then is, or `erase` when it may come back but still has data of its former life. */
  function putOnce(id: string, attributes: JsonObject, reviveAfterMs: number | undefined): Promise<Tenant | 'erase'> {
    return writes.run(({ now }) => {
      const row = select.get(id);
      if (!row) return toTenant(save({ id, attributes }, null), now);
      if (row.removed_at === null) {
        const merged = JSON.stringify({ ...(JSON.parse(row.attributes) as JsonObject), ...attributes });
        if (merged === row.attributes) return toTenant(row, now);
        return toTenant(save({ id, attributes: JSON.parse(merged) as JsonObject }, null), now);
      }
      if (reviveAfterMs === undefined || now - row.removed_at < reviveAfterMs) return toTenant(row, now);
      if (selectAnyOwner.get(id) !== undefined) return 'erase';
      return toTenant(save({ id, attributes }, null), now);
    });
  }

  function removeWithin(id: string, tx: Transaction): void {
    const row = select.get(id);
    if (row?.status === 'removed') return;
    const attributes = row ? (JSON.parse(row.attributes) as JsonObject) : {};
    save({ id, attributes }, tx.now);
    deleteCredentials.run(id);
    // Nothing of it is left when it comes back, also no pause.
    deletePause.run(id);
    tx.notifyAll();
  }

  function restoreOnce(id: string, note: (tx: Transaction) => void): Promise<boolean | 'erase'> {
    return writes.run((tx) => {
      const row = select.get(id);
      if (row?.status !== 'removed') return false;
      if (selectAnyOwner.get(id) !== undefined) return 'erase';
      save({ id, attributes: JSON.parse(row.attributes) as JsonObject }, null);
      note(tx);
      return true;
    });
  }

  function eraseSome(id: string, limit: number): Promise<number> {
    return writes.run(() => (select.get(id)?.status === 'removed' ? erasure.ofTenant(id, limit) : 0));
  }

  return {
    async get(id) {
      const row = connection.read(() => select.get(id));
      return row && toTenant(row, clock.now());
    },
    async put(id, attributes, options) {
      // A removed tenant accepts nothing, so this ends: each round leaves fewer of its old tasks.
      for (;;) {
        const tenant = await putOnce(id, attributes, options?.reviveAfterMs);
        if (tenant !== 'erase') return tenant;
        await eraseSome(id, ERASE_BATCH);
      }
    },
    remove: (id) => writes.run((tx) => removeWithin(id, tx)),
    removeWithin,
    async restore(id, note) {
      for (;;) {
        const restored = await restoreOnce(id, note);
        if (restored !== 'erase') return restored;
        await eraseSome(id, ERASE_BATCH);
      }
    },
    erase: (id, limit) => eraseInBatches(limit, (size) => eraseSome(id, size)),
    removedWithData: async (limit) => connection.snapshot(() => selectRemoved.all(limit).map((row) => row.id)),
  };
}

function toTenant(row: TenantRow, now: number): Tenant {
  return {
    id: row.id,
    status: row.status,
    attributes: JSON.parse(row.attributes) as JsonObject,
    ...(row.removed_at === null ? {} : { removedForMs: Math.max(0, now - row.removed_at) }),
  };
}
