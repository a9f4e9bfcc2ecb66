import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { startWorld } from '../e2e/world.ts';
import { until } from '../support/until.ts';
import { type Load, startLoad } from './load.ts';

/** All tasks together stay below what a tenant may ask at once, or the test would be about waiting. */
const READS = 5;
/** Often, and yet a call to Jira is shorter: it is refused for an old token once, not for the next one, too. */
const RENEW_MS = 100;
const KEPT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sealed: { CREDENTIALS_KEY: randomBytes(32).toString('base64') },
  'in memory': {},
};

for (const [kept, settings] of Object.entries(KEPT)) {
  test(`user tokens ${kept}: each poll brings a new one and the one before is revoked while tasks read: nothing fails`, async (t) => {
    const world = await startWorld({ agent: 'rerun', settings: { ROVO_WAIT_MS: '50', ...settings } });
    t.after(() => world.close());
    const { site } = world.atlassian;
    const jira = world.jira();
    const reads = Array.from({ length: READS }, () => ['read SHOP-1', 'pause 20']).flat();
    const door = world.outside.place({ closed: true });
    const script = [...reads, `call ${door.name}`, ...reads, 'complete Read.'].join('\n');
    const renewals: Load[] = [];
    const loads: Load[] = [];
    const ids: { readonly as: string; readonly id: string }[] = [];

    for (const as of ['alice', 'bob']) {
      let current = site.newToken(as);
      const sent = await Promise.all(
        Array.from({ length: 5 }, () => jira.chat(script, { as }).sync({ userToken: { token: current } })),
      );
      const own = sent.map(({ task }) => ({ as, id: String(task?.id) }));
      ids.push(...own);
      // One call after the other renews, as each poll of Jira does; all others bring nothing.
      const renewing = startLoad(
        t,
        async () => {
          const [before, token] = [current, site.newToken(as)];
          current = token;
          const answer = await jira.get(String(own[0]?.id), { as, userToken: { token } });
          site.tokens.revoke(before);
          return answer;
        },
        RENEW_MS,
      );
      renewals.push(renewing);
      loads.push(renewing, ...own.map(({ id }) => startLoad(t, () => jira.get(id, { as, userToken: 'none' }))));
    }

    await door.reached(ids.length);
    const before = renewals.map(({ answered }) => answered);
    await until('each has renewed twice', () =>
      renewals.every(({ answered }, index) => answered >= (before[index] ?? 0) + 2),
    );
    door.open();
    for (const { as, id } of ids) {
      const { task } = await jira.poll(id, { as, userToken: 'none', intervalMs: 50 });
      assert.equal(task?.status.state, 'TASK_STATE_COMPLETED');
    }
    await Promise.all(loads.map((load) => load.stop()));
    for (const { faults, missed, states } of loads) {
      assert.deepEqual([faults, missed], [[], 0]);
      // Nobody is asked for a permission that they have given.
      assert.deepEqual(
        [...states].filter((state) => !/WORKING|COMPLETED|SUBMITTED/.test(state)),
        [],
      );
    }
    for (const as of ['alice', 'bob']) {
      const used = new Set(site.requests().flatMap((request) => (request.as === as ? [request.token] : [])));
      // What was good before the door was revoked behind it.
      assert.ok(used.size > 1, `${used.size} tokens of ${as} were used`);
    }
  });
}
