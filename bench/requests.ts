import { type Contest, contestScenario } from './contest.ts';
import type { Contender } from './measure.ts';
import { ANONYMOUS, BODIES } from './operations.ts';
import type { Scenario } from './scenario.ts';
import { API_ONLY, OURS, PEERS, service, type Target } from './target.ts';

/* `/a2a` without authentication, beside the SDK's own server and what the machine can do at most. */

function anonymous(target: Target): Contender {
  return { name: target.name, target, door: ANONYMOUS };
}

const ours = anonymous(OURS);
const bare = anonymous(PEERS.bare);
const stub = anonymous(PEERS.stub);
const sdkMemory = anonymous(PEERS.sdkMemory);
const sdkSqlite = anonymous(PEERS.sdkSqlite);
const sdkSqliteFull = anonymous(PEERS.sdkSqliteFull);

const CONTESTS = {
  send: {
    ours,
    peers: [bare, stub, sdkMemory, sdkSqlite, sdkSqliteFull],
    bodies: BODIES.send,
    bars: { [sdkSqlite.name]: { ratio: 5 }, [sdkMemory.name]: { ratio: 1.5 }, [bare.name]: { ratio: 0.35 } },
  },
  accept: {
    // With a worker beside it, what is measured would depend on how far the backlog grows: see the scenario `backlog`.
    ours: anonymous(service('ours, ROLE=api', API_ONLY)),
    peers: [bare, stub],
    bodies: BODIES.accept,
    bars: { [bare.name]: { ratio: 0.4 } },
    commitsBelow: 0.2,
  },
  get: {
    ours,
    peers: [bare, stub, sdkMemory, sdkSqlite],
    bodies: BODIES.get,
    bars: { [sdkSqlite.name]: { ratio: 2 }, [bare.name]: { ratio: 0.6 } },
  },
  list: { ours, peers: [sdkMemory, sdkSqlite], bodies: BODIES.list, bars: {} },
  stream: {
    ours,
    peers: [sdkMemory, sdkSqlite],
    bodies: BODIES.stream,
    bars: { [sdkSqlite.name]: { ratio: 5 } },
  },
} as const satisfies Readonly<Record<string, Contest>>;

/** One scenario for each operation. */
export const REQUEST_SCENARIOS: Readonly<Record<string, Scenario>> = Object.fromEntries(
  Object.entries(CONTESTS).map(([name, contest]) => [name, contestScenario(name, contest)]),
);
