import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Commands, command, pick, weighted } from './command.ts';
import { eraseTenant, expire, isOverdue, purge, REVIVE_MS, removeTenant, reviveTenant } from './model-callers.ts';
import { pass } from './running-turns.ts';

/* What happens by itself: time passes, also backwards, and the janitor cleans up. */

const SECOND = 1_000;
const JUMPS = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(20, 50, SECOND, 5 * SECOND) },
  { weight: 6, arbitrary: fc.constant(31 * SECOND) },
  { weight: 3, arbitrary: fc.constantFrom(-200, -5 * SECOND, -60 * SECOND) },
  { weight: 2, arbitrary: fc.constantFrom(120 * SECOND, 61 * 60 * SECOND) },
  { weight: 1, arbitrary: fc.constantFrom(3 * 3_600 * SECOND, 26 * 3_600 * SECOND) },
);
const process = fc.nat(1);
const tenant = fc.constantFrom('jwt:one', 'rovo:two');

export const timeCommands: Commands = [
  weighted(
    8,
    JUMPS.map((ms) =>
      command('time', ms, async (world) => {
        await pass(world, ms);
        return ms < 0 ? `the clock is set back by ${-ms} ms` : `${ms} ms pass`;
      }),
    ),
  ),

  weighted(
    1,
    process.map((at) =>
      command('deadlines', at, async (world) => {
        const due = [...world.model.tasks.values()].filter((task) => isOverdue(world.model, task));
        const by = pick(world.processes, at);
        assert.ok(by);
        await world.expireDue(by);
        for (const task of due) expire(world.model, task);
        return `deadlines: ${due.map(({ number }) => `task ${number}`).join(', ') || 'none'} expired`;
      }),
    ),
  ),

  weighted(
    1,
    process.map((at) =>
      command('credentials', at, async (world) => {
        const hashes = await pick(world.processes, at)?.store.sweepCredentials();
        for (const [name, { expiresAt }] of world.model.credentials) {
          if (expiresAt <= world.model.now) world.model.credentials.delete(name);
        }
        const kept = [...world.model.credentials.values()].map(({ hash }) => hash);
        assert.deepEqual([...(hashes ?? [])].sort(), [...new Set(kept)].sort(), 'tokens that are kept');
        return 'expired tokens are swept';
      }),
    ),
  ),

  weighted(
    1,
    fc.tuple(process, fc.constantFrom(3_600_000, 86_400_000)).map(([at, olderThanMs]) =>
      command('retention', at, async (world) => {
        const gone = purge(world.model, olderThanMs);
        assert.equal(
          await pick(world.processes, at)?.store.purge(olderThanMs, 1_000),
          gone,
          'as many tasks are purged',
        );
        return `retention: ${gone} tasks purged`;
      }),
    ),
  ),

  weighted(
    1,
    fc.tuple(process, tenant, fc.nat(5)).map(([at, id, act]) =>
      command('tenant', at, async (world) => {
        const tenants = pick(world.processes, at)?.sqlite.tenants;
        assert.ok(tenants);
        if (act === 0) {
          await tenants.remove(id);
          removeTenant(world.model, id);
          return `tenant ${id} is removed`;
        }
        if (act === 1) {
          const gone = eraseTenant(world.model, id);
          assert.equal(await tenants.erase(id, 1_000), gone, 'as many tasks are erased');
          return `tenant ${id}: ${gone} tasks erased`;
        }
        await tenants.put(id, {}, { reviveAfterMs: REVIVE_MS });
        reviveTenant(world.model, id);
        assert.equal((await tenants.get(id))?.status, world.model.removedAt.has(id) ? 'removed' : 'active');
        return `tenant ${id} is installed`;
      }),
    ),
  ),
];
