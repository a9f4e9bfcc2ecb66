import type { LifecycleResult } from '../client/lifecycle.ts';
import { JIRA_LIMITS } from '../limits.ts';
import { type Check, must, mustBeTaken } from './check.ts';

function mustBeDelivered(result: LifecycleResult, what: string): number {
  const [first] = result.attempts;
  must(result.delivered, `${what}: HTTP ${first?.status}`);
  must(result.attempts.length === 1, `${what}: only at attempt ${result.attempts.length}`);
  return first?.elapsedMs ?? 0;
}

export const LIFECYCLE_CHECKS: readonly Check[] = [
  {
    id: 'lifecycle.installed',
    rule: 'installed answers 2xx within 5 s, every time it comes, with optional fields absent too',
    async run(bench) {
      const { client } = bench.apart();
      const times: number[] = [];
      for (const body of [{}, {}, { installerAccountId: undefined, environment: undefined, context: undefined }]) {
        times.push(mustBeDelivered(await client.install({ body, retries: 0 }), 'installed'));
      }
      const slowest = Math.max(...times);
      must(slowest < JIRA_LIMITS.lifecycleMs, `${Math.round(slowest)} ms`);
      return `3 times, slowest ${Math.round(slowest)} ms`;
    },
  },
  {
    id: 'lifecycle.upgraded',
    rule: 'upgraded answers 2xx, also for an installation that nobody announced',
    async run(bench) {
      const ms = mustBeDelivered(await bench.apart().client.upgrade({ retries: 0 }), 'upgraded');
      return `${Math.round(ms)} ms`;
    },
  },
  {
    id: 'lifecycle.token',
    rule: 'Lifecycle routes refuse a call without a token, of another app, of a UI module',
    async run(bench) {
      const { client } = bench.apart();
      const refused = async (options: object, what: string): Promise<void> => {
        for (const send of [client.install, client.uninstall]) {
          const { attempts } = await send({ retries: 0, ...options });
          const status = attempts[0]?.status ?? 0;
          must(status === 401 || status === 403, `${what}: HTTP ${status}`);
        }
      };
      await refused({ authorization: null }, 'no token');
      await refused({ invocationToken: { audience: 'ari:cloud:ecosystem::app/other' } }, 'another app');
      await refused({ invocationToken: { module: { type: 'jira:issuePanel', key: 'panel' } } }, 'a UI module');
      return 'refused on both routes';
    },
  },
  {
    id: 'lifecycle.unannounced',
    rule: 'A valid call of an installation that nobody announced is served',
    async run(bench) {
      const { client } = bench.apart();
      const answer = await client.chat('Hello').sync();
      return `served: ${mustBeTaken(answer, `HTTP ${answer.status}`)}`;
    },
  },
  {
    id: 'lifecycle.removed',
    rule: 'After preUninstall its calls are refused, a late installed changes nothing, a reinstall works',
    async run(bench) {
      const { client, site } = bench.apart();
      const hello = () => client.chat('Hello').sync();
      mustBeDelivered(await client.install(), 'installed');
      must((await hello()).status === 200, 'it was refused before');
      mustBeDelivered(await client.uninstall(), 'preUninstall');
      must((await hello()).status === 401, 'it is served after its removal');
      mustBeDelivered(await client.install(), 'a late installed');
      must((await hello()).status === 401, 'a late installed brought it back');
      site.reinstall();
      mustBeDelivered(await client.install(), 'installed anew');
      must((await hello()).status === 200, 'the new installation is refused');
      return '401 after the removal, served after the reinstall';
    },
  },
];
