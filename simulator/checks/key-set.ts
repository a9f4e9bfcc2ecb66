import { pause } from '../pause.ts';
import { type Bench, type Check, fail, must } from './check.ts';

/** A verifier may wait that long before it asks for the key set again; a second on top for the way. */
const COOLDOWN_MS = 30_000;
const PATIENCE_MS = COOLDOWN_MS + 10_000;
const ASK_EVERY_MS = 1_000;

const randomKid = (): string => `nobody/${Math.random().toString(16).slice(2)}`;

async function until(condition: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedAt > PATIENCE_MS) fail(`not within ${PATIENCE_MS / 1000} s`);
    await pause(ASK_EVERY_MS);
  }
  return Math.round((performance.now() - startedAt) / 1000);
}

const ping = (bench: Bench, invocationToken = {}) => bench.client.get('no-such-task', { invocationToken });

export const KEY_SET_CHECKS: readonly Check[] = [
  {
    id: 'keys.random',
    rule: 'Random kids cause one fetch of the key set per cooldown at most',
    alone: true,
    async run(bench) {
      must((await ping(bench)).status === 200, 'the known key was refused');
      const before = bench.atlassian.jwksRequests();
      must(before > 0, 'the agent never fetched the key set');
      const startedAt = performance.now();
      const calls = 200;
      for (let sent = 0; sent < calls; sent += 20) {
        const answers = await Promise.all(Array.from({ length: 20 }, () => ping(bench, { kid: randomKid() })));
        for (const { status } of answers) must(status === 401 || status === 503, `an unknown key: HTTP ${status}`);
      }
      const fetches = bench.atlassian.jwksRequests() - before;
      const allowed = 1 + Math.ceil((performance.now() - startedAt) / COOLDOWN_MS);
      must(fetches <= allowed, `${calls} calls, ${fetches} fetches`);
      return `${calls} calls, ${fetches} fetches`;
    },
  },
  {
    id: 'keys.rotation',
    rule: 'A newly published key is accepted within a cooldown, the old one goes on',
    slow: true,
    async run(bench) {
      const { status } = await ping(bench, { kid: randomKid() });
      must(status === 401 || status === 503, `an unknown key: HTTP ${status}`);
      const { kid } = await bench.atlassian.keyRing.add();
      const seconds = await until(async () => {
        must((await ping(bench)).status === 200, 'the key in use was refused');
        return (await ping(bench, { signWith: kid })).status === 200;
      });
      bench.atlassian.keyRing.remove(kid);
      return `accepted after ${seconds} s`;
    },
  },
  {
    id: 'keys.outage',
    rule: 'Key set down: a known key goes on, an unknown one gets 503 and Retry-After',
    slow: true,
    alone: true,
    async run(bench) {
      bench.atlassian.outage('refuse');
      try {
        let retryAfter: string | undefined;
        const seconds = await until(async () => {
          must((await ping(bench)).status === 200, 'the known key was refused');
          const unknown = await ping(bench, { kid: randomKid() });
          retryAfter = unknown.headers['retry-after'];
          must(unknown.status === 401 || unknown.status === 503, `unknown key: HTTP ${unknown.status}`);
          return unknown.status === 503;
        });
        must(retryAfter !== undefined, '503 without Retry-After');
        return `503 after ${seconds} s, Retry-After: ${retryAfter}`;
      } finally {
        bench.atlassian.outage('none');
      }
    },
  },
];
