import { randomUUID } from 'node:crypto';
import { artifactText, statusText } from '../client/a2a.ts';
import type { CallOptions } from '../client/calls.ts';
import * as adf from '../site/adf.ts';
import { type Bench, type Check, fail, must, mustBeTaken, mustWork, skip } from './check.ts';

/** The answers that a stranger gets, as bytes: the same JSON-RPC id goes along with both questions. */
async function mustNotTell(bench: Bench, taskId: string, stranger: CallOptions): Promise<string> {
  const { client } = bench;
  const id = randomUUID();
  const ask = async (target: string): Promise<Readonly<Record<string, string>>> => {
    const { params } = client.chat('And now?', { taskId: target, messageId: randomUUID() });
    const [get, cancel, send, subscribe] = await Promise.all([
      client.get(target, { ...stranger, id }),
      client.cancel(target, { ...stranger, id }),
      client.rpc('SendMessage', params, { ...stranger, id }),
      client.subscribe(target, { ...stranger, id }),
    ]);
    return { GetTask: get.text, CancelTask: cancel.text, SendMessage: send.text, SubscribeToTask: subscribe.text };
  };
  const [foreign, random] = [await ask(taskId), await ask(randomUUID())];
  for (const [method, text] of Object.entries(foreign)) {
    must(text.includes('-32001'), `${method}: ${text.slice(0, 80)}`);
    must(text === random[method], `${method}: the answer differs from the one for a random id`);
  }
  const still = await client.get(taskId);
  must(still.task !== undefined, 'the owner cannot read it any more');
  return `-32001 for ${Object.keys(foreign).length} methods, byte for byte`;
}

async function newTask({ client, item }: Bench): Promise<string> {
  return mustWork(await client.assign(item().key).sync(), 'assignment').id;
}

export const OWNERSHIP_CHECKS: readonly Check[] = [
  {
    id: 'owner.user',
    rule: "Another user's task answers as one that never was",
    run: async (bench) => mustNotTell(bench, await newTask(bench), { as: 'bob' }),
  },
  {
    id: 'owner.site',
    rule: 'The same account from another site gets no hint either',
    run: async (bench) => mustNotTell(bench, await newTask(bench), { as: 'alice', site: 'harbor' }),
  },
  {
    id: 'owner.context',
    rule: "Another user's contextId joins nothing",
    async run({ client, item }) {
      const sent = await client.assign(item().key).sync();
      const contextId = mustWork(sent, 'assignment').contextId ?? fail('no context');
      mustBeTaken(await client.chat('Go on', { as: 'bob' }).sync(), 'bob, in no context');
      const bob = await client.chat('Go on', { as: 'bob', contextId }).sync();
      const stranger = await client.chat('Go on', { as: 'bob', contextId: randomUUID() }).sync();
      must(bob.task?.id !== sent.task?.id, "bob is in alice's task");
      must(
        (bob.error === undefined) === (stranger.error === undefined),
        'a known contextId is told from an unknown one',
      );
      return bob.error ? `${bob.error.code}, as for an unknown one` : 'a task of his own, as for an unknown one';
    },
  },
  {
    id: 'owner.hidden-item',
    rule: 'A work item that the user may not see stays hidden',
    async run({ client, item, site }) {
      const secret = 'Quickfinch-7731';
      const hidden = item({
        project: 'PAY',
        summary: `Invoice of ${secret}`,
        description: adf.doc(adf.paragraph(`Only payments may know ${secret}.`)),
      });
      const done = await client.assign(hidden.key, { as: 'bob', force: true }).run();
      const told = `${statusText(done.task)}\n${artifactText(done.task)}\n${JSON.stringify(done.task?.history ?? [])}`;
      must(!told.includes(secret), 'its text was told');
      const asked = site
        .requests()
        .filter((request) => request.path.includes(hidden.id) || request.path.includes(hidden.key));
      const state = done.task?.status.state ?? fail(`no task: ${done.error?.code ?? done.outcome}`);
      must(state !== 'TASK_STATE_FAILED', `FAILED: ${statusText(done.task)}`);
      if (asked.length === 0) skip(`${state}, but the agent never asked Jira`);
      const others = asked.filter((request) => request.as !== 'bob');
      must(others.length === 0, `${others.length} requests were made as ${others[0]?.as ?? 'nobody'}`);
      return `${state}, ${asked.length} requests, all as bob`;
    },
  },
];
