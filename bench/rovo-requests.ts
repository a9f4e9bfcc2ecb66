import { type Contest, contestScenario } from './contest.ts';
import { startForge } from './forge.ts';
import { ANONYMOUS, BODIES } from './operations.ts';
import type { Scenario } from './scenario.ts';
import { API_ONLY, service } from './target.ts';

/* What Jira's door costs: the same call through `/a2a` and, with a new invocation token each, through `/rovo/a2a`. */

/** Tokens live 25 s, and have to be signed before the round. */
const SECONDS_MAX = 5;
const OR_CPU_MS = 0.3;

type Operation = keyof typeof BODIES;

function scenarioFor(operation: Operation, ratio: number | undefined): Scenario {
  return async (print, options) => {
    const forge = await startForge();
    const target = service('ours, both edges', { ...forge.env, ...(operation === 'accept' ? API_ONLY : {}) });
    const anonymous = { name: '/a2a', target, door: ANONYMOUS };
    const contest: Contest = {
      ours: { name: '/rovo/a2a, a token each', target, door: forge.door },
      peers: [anonymous],
      bodies: BODIES[operation],
      bars: ratio === undefined ? {} : { [anonymous.name]: { ratio, orCpuMs: OR_CPU_MS } },
      secondsMax: SECONDS_MAX,
    };
    try {
      return await contestScenario(`rovo-${operation}`, contest)(print, options);
    } finally {
      await forge.close();
    }
  };
}

export const ROVO_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'rovo-send': scenarioFor('send', 0.65),
  'rovo-accept': scenarioFor('accept', undefined),
  'rovo-get': scenarioFor('get', 0.45),
  'rovo-list': scenarioFor('list', undefined),
  'rovo-stream': scenarioFor('stream', undefined),
};
