import { isTerminal, statusText } from '../client/a2a.ts';
import type { UserToken } from '../client/calls.ts';
import type { PollResult } from '../client/polling.ts';
import { type Bench, brief, type Check, fail, must, mustBeClean, mustWork, skip } from './check.ts';

/** Parks a task for want of a token that works, then brings one: the task has to end by itself. */
async function parkAndGoOn(bench: Bench, userToken: UserToken): Promise<string> {
  const { client, item } = bench;
  const parked = await client.assign(item().key).run({
    userToken,
    until: ({ status }) => isTerminal(status.state) || status.state === 'TASK_STATE_AUTH_REQUIRED',
  });
  mustBeClean(parked.faults, 'first polls');
  return mustGoOn(bench, parked);
}

async function mustGoOn({ client }: Bench, parked: PollResult): Promise<string> {
  const state = parked.task?.status.state;
  const id = parked.task?.id ?? fail(`no task: ${parked.error?.message ?? parked.outcome}`);
  if (state === 'TASK_STATE_COMPLETED') skip('the agent never asked Jira');
  must(state === 'TASK_STATE_AUTH_REQUIRED', `${state} (${brief(statusText(parked.task))})`);
  must(statusText(parked.task).trim() !== '', 'AUTH_REQUIRED without a word on what to do');
  const done = await client.poll(id, { userToken: 'fresh' });
  must(
    done.task?.status.state === 'TASK_STATE_COMPLETED',
    `with a new token: ${done.task?.status.state ?? done.outcome}`,
  );
  return `AUTH_REQUIRED "${brief(statusText(parked.task), 40)}", then ${done.states.length} states to COMPLETED`;
}

export const USER_TOKEN_CHECKS: readonly Check[] = [
  {
    id: 'user.missing',
    rule: 'Without a user token the task is AUTH_REQUIRED and goes on at the next poll with one',
    run: (bench) => parkAndGoOn(bench.apart(), 'none'),
  },
  {
    id: 'user.expired',
    rule: 'With an expired user token likewise',
    run(bench) {
      const apart = bench.apart();
      return parkAndGoOn(apart, { token: apart.site.newToken('alice', { ageMs: 5 * 60 * 60_000 }) });
    },
  },
  {
    id: 'user.refused',
    rule: 'A user token that Jira refuses in the middle of the work likewise',
    async run(bench) {
      const apart = bench.apart();
      const { site, client, item } = apart;
      const { key } = item();
      const token = site.newToken('alice');
      const gate = site.traffic.gate(key);
      const sending = client.assign(key).run({
        userToken: { token },
        until: ({ status }) => isTerminal(status.state) || status.state === 'TASK_STATE_AUTH_REQUIRED',
      });
      const read = await Promise.race([gate.reached().then(() => true), sending.then(() => false)]);
      if (!read) skip('the agent never read the work item');
      site.tokens.revoke(token);
      gate.open();
      return mustGoOn(apart, await sending);
    },
  },
  {
    id: 'user.scope',
    rule: 'A user token without read:jira-work ends in AUTH_REQUIRED or a word on it',
    async run(bench) {
      const { site, client, item } = bench.apart();
      const token = { token: site.newToken('alice', { scopes: ['read:jira-user'] }) };
      const done = await client.assign(item().key).run({
        userToken: token,
        until: ({ status }) => isTerminal(status.state) || status.state === 'TASK_STATE_AUTH_REQUIRED',
      });
      must(done.task !== undefined, done.error?.message ?? done.outcome);
      if (site.requests().length === 0) skip(`${done.task.status.state}, but the agent never asked Jira`);
      must(statusText(done.task).trim() !== '', `${done.task.status.state} without a word`);
      return `${done.task.status.state} "${brief(statusText(done.task), 50)}"`;
    },
  },
  {
    id: 'user.acts-as',
    rule: 'Jira is asked as the invoking user only, and the token is never shown',
    async run(bench) {
      const { site, client, item } = bench.apart();
      const { key, id } = item();
      const token = site.newToken('bob');
      const done = await client.assign(key, { as: 'bob', userToken: { token } }).run();
      const asked = site.requests().filter(({ path, query }) => `${path}/${query.jql ?? ''}`.match(`${key}|/${id}\\b`));
      mustWork(done, 'assignment');
      if (asked.length === 0) skip('the agent never asked Jira');
      must(
        asked.every((request) => request.as === 'bob'),
        `asked as ${asked.find(({ as }) => as !== 'bob')?.as ?? 'nobody'}`,
      );
      must(!JSON.stringify(done).includes(token), 'the token is in an answer');
      return `${asked.length} requests as bob`;
    },
  },
  {
    id: 'user.rate-limit',
    rule: 'A 429 of Jira is waited out',
    async run(bench) {
      const { site, client, item } = bench.apart();
      const { key } = item();
      site.traffic.rateLimit({ key, times: 1, retryAfterS: 1 });
      const done = await client.assign(key).run();
      must(
        done.task?.status.state === 'TASK_STATE_COMPLETED',
        `${done.task?.status.state ?? done.outcome}: ${done.error?.message ?? brief(statusText(done.task))}`,
      );
      const refused = site.requests().filter(({ status }) => status === 429);
      if (refused.length === 0) skip('the agent never asked Jira');
      return `COMPLETED after ${refused.length} refusals`;
    },
  },
];
